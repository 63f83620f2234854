"""Common family and given names by origin, sex and generation."""

from __future__ import annotations

# Commonest first. Family name and given name are drawn independently within one origin.

FAMILIES = {
    "german": (
        "Müller Schmidt Schneider Fischer Weber Meyer Wagner Schulz Becker Hoffmann Schäfer Koch Richter "
        "Bauer Klein Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hartmann Lange Werner Krause "
        "Lehmann Köhler Maier König Mayer Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn "
        "Schubert Vogel Friedrich Keller Günther Frank Berger Winkler Roth Beck Lorenz Baumann Franke "
        "Albrecht Schuster Simon Ludwig Böhm Winter Kraus Martin Schumacher Krämer Vogt Stein Jäger Otto "
        "Sommer Groß Seidel Heinrich Brandt Haas Schreiber Graf Schulte Dietrich Ziegler Kuhn Kühn Pohl "
        "Engel Horn Busch Bergmann Thomas Voigt Sauer Arnold Wolff Pfeiffer Ernst Lindner Hübner Kramer "
        "Franz Beyer Wenzel Jahn Förster Köster Böttcher Götz Kirchner Ullrich Hofmann Büttner Thiele "
        "Reuter Nagel Strauß Großmann Hänsel Jänicke Kästner Löffler Mühlbauer Nöller Oehme Preuß Quandt "
        "Rößler Süß Täubert Uhlig Völker Weißbach Zschoche Ahrens Barthel Conrad Döring Eichhorn Fiedler "
        "Gebhardt Herrmann Ihle Jentzsch Kretzschmar Liebscher Mehnert Naumann Opitz Petzold Rätzsch "
        "Schönherr Teichmann Ulbricht Vetter Wächtler Zeidler Ackermann Blümel Clauß Dörfler Ebert Füßl "
        "Gärtner Höhne Irmscher Jürgens Küster Lötzsch März Noack Östreich Pötzsch Äcker"
    ),
    "turkish": (
        "Yılmaz Kaya Demir Şahin Çelik Yıldız Yıldırım Öztürk Aydın Özdemir Arslan Doğan Kılıç Aslan Çetin "
        "Kara Koç Kurt Özkan Şimşek Polat Korkmaz Ünal Güneş Bulut"
    ),
    "polish": (
        "Nowak Kowalski Wiśniewski Wójcik Kowalczyk Kamiński Lewandowski Zieliński Szymański Woźniak "
        "Dąbrowski Kozłowski Jankowski Mazur Krawczyk Piotrowski Grabowski Pawłowski"
    ),
    "russian": (
        "Ivanov Schmidt Petrov Müller Popov Weber Volkov Sokolov Becker Kuznetsov Morozov Novikov Wagner "
        "Fedorov Kovalenko Shevchenko Bondarenko Melnik Pavlov Lebedev"
    ),
    "arabic": (
        "Mohammad Ahmad Ali Hassan Ibrahim Khalil Hussein Al-Hamad Omar Saleh Mahmoud Darwish Haddad "
        "Khoury Mansour Nasser Rahimi Hosseini Ahmadi Karimi"
    ),
    "southern": (
        "Rossi Popović Hoxha Krasniqi Horvat Nikolić Petrović Papadopoulos Russo Esposito Ferrari "
        "Jovanović Popa Ionescu García Silva Marković Dimitrov Georgiou Berisha"
    ),
    "vietnamese": "Nguyen Tran Le Pham Hoang Vu Phan Dang Bui Do Ho Ngo Duong Ly",
}

ORIGINS = tuple(FAMILIES)

GENERATIONS = (1900, 1945, 1970, 1995)
"""First year of birth of each generation."""

SHARES = (
    (900, 8, 22, 45, 5, 18, 2),
    (815, 42, 40, 45, 15, 35, 8),
    (720, 60, 55, 50, 50, 50, 15),
    (630, 75, 50, 45, 110, 70, 20),
)
"""Parts per thousand of each origin, generation by generation."""

GERMAN_WOMEN = (
    "Ursula Ilse Hildegard Gerda Ingeborg Irmgard Helga Lieselotte Edith Elfriede Gertrud Erika Christa "
    "Waltraud Margarete Ruth Hannelore Anneliese Käthe Elisabeth Herta Frieda Martha Brünhilde",
    "Renate Monika Karin Brigitte Petra Sabine Gabriele Angelika Susanne Birgit Andrea Martina Heike Ute "
    "Barbara Bärbel Marion Christine Claudia Jutta Cornelia Kerstin Elke Dörte",
    "Stefanie Julia Katrin Sandra Anja Nicole Katharina Anna Melanie Christin Daniela Sarah Jana Franziska "
    "Nadine Yvonne Jessica Lisa Susann Claudia Maria Kathleen Janine Käte",
    "Emma Mia Hannah Sophie Lea Marie Leonie Lina Anna Emilia Charlotte Clara Ella Mathilda Frieda Johanna "
    "Ida Lara Amelie Luisa Paula Nele Zoë Jördis",
)
GERMAN_MEN = (
    "Hans Günter Karl Heinz Werner Gerhard Horst Walter Helmut Kurt Rolf Siegfried Manfred Heinrich Rudolf "
    "Herbert Erich Alfred Otto Wilhelm Johannes Fritz Jürgen Götz",
    "Peter Klaus Wolfgang Michael Jürgen Bernd Thomas Andreas Frank Dieter Uwe Rainer Jörg Ralf Matthias "
    "Detlef Holger Joachim Stefan Volker Norbert Steffen Hartmut Lüder",
    "Christian Stefan Daniel Sebastian Alexander Tobias Markus Martin Jan Florian Marco René Sven Mike "
    "Robert Philipp Patrick Torsten David Björn Felix Dennis Enrico Jörn",
    "Paul Leon Ben Finn Elias Noah Jonas Felix Luis Emil Oskar Anton Maximilian Karl Theo Jakob Moritz "
    "Lukas Tim Henry Fritz Matteo Till Jörn",
)

WOMEN = {
    "turkish": "Fatma Ayşe Emine Hatice Zeynep Elif Meryem Özlem Sevgi Gül Esra Defne Büşra Yasemin",
    "polish": "Anna Katarzyna Małgorzata Agnieszka Barbara Ewa Magdalena Joanna Zofia Monika Julia",
    "russian": "Elena Olga Natalia Tatjana Irina Svetlana Maria Ludmila Anastasia Oksana Katharina Alina",
    "arabic": "Fatima Mariam Aisha Zahra Amina Nour Layla Rania Hanan Samira Yasmin Huda",
    "southern": "Maria Giulia Ana Elena Jelena Arta Sofia Ivana Francesca Eleni Ioana Mirjeta",
    "vietnamese": "Mai Lan Hoa Linh Thu Hang Huong Ngoc Anh Phuong",
}
MEN = {
    "turkish": "Mehmet Mustafa Ahmet Ali Hüseyin Hasan İbrahim Murat Emre Yusuf Ömer Can Burak Kerem",
    "polish": "Piotr Krzysztof Andrzej Tomasz Paweł Marcin Jan Michał Jakub Łukasz Adam Mateusz",
    "russian": "Alexander Sergej Viktor Andrej Wladimir Dmitri Nikolai Eugen Waldemar Maxim Igor Artur",
    "arabic": "Mohammed Ahmad Ali Omar Hassan Yusuf Khaled Mahmoud Karim Samir Adam Bilal",
    "southern": "Giuseppe Antonio Dragan Marko Luan Nikola Giovanni Arben Ioannis Luca Mihai Stefan",
    "vietnamese": "Van Minh Duc Hung Tuan Thanh Quang Long Nam Huy",
}
NEUTRAL = "Kim Robin Alex Sascha Toni Luca Charlie Noa Jona Mika Sam Elia"


def families() -> list[tuple[str, ...]]:
    """The family names of every origin."""
    return [tuple(names.split()) for names in FAMILIES.values()]


def given(origin: str, generation: int) -> tuple[tuple[str, ...], ...]:
    """The given names of women, men and diverse persons of an origin and a generation."""
    if origin == "german":
        chosen = (GERMAN_WOMEN[generation], GERMAN_MEN[generation], NEUTRAL)
    else:
        chosen = (WOMEN[origin], MEN[origin], NEUTRAL)
    return tuple(tuple(names.split()) for names in chosen)
