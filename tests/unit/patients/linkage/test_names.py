"""Names in one spelling."""

from __future__ import annotations

import pytest

from kohorte.patients.linkage.names import first_names, last_name, place, without_birth_name


@pytest.mark.parametrize(
    "spellings",
    [
        ("Müller", "MUELLER", "Mu\u0308ller", "  müller ", "Dr. med. Müller", "Prof. Dr. Müller"),
        ("Groß", "Gross", "GROẞ"),
        ("Yılmaz", "Yilmaz", "YILMAZ"),
        ("Şahin", "Sahin"),
        ("Łukasz", "Lukasz"),
        ("O'Brien", "O’Brien", "OBrien"),
        ("von der Leyen", "Leyen", "v.d. Leyen".replace("v.d.", "von der")),
        ("Al-Hamad", "Hamad", "al Hamad"),
        ("Nguyễn", "Nguyen"),
        ("Θεόδωρος", "Theodoros"),
        ("Παπαδόπουλος", "ΠΑΠΑΔΟΠΟΥΛΟΣ", "Papadopoulos"),
        ("Ευάγγελος", "Evangelos"),
        ("Ευστάθιος", "Efstathios"),
        ("Αυγερινός", "Avgerinos"),
        ("Χριστόπουλος", "Christopoulos"),
        ("Μπακογιάννης", "Bakogiannis"),
        ("Χαραλάμπους", "Charalampous"),
        ("Μαΐου", "Maiou"),
    ],
)
def test_spellings_of_one_family_name_are_the_same(spellings: tuple[str, ...]) -> None:
    assert len({last_name(text).joined for text in spellings}) == 1


def test_parts_of_double_names_are_kept() -> None:
    assert last_name("Müller-Lüdenscheidt").parts == ("mueller", "luedenscheidt")
    assert first_names("Anna-Lena Maria").parts == ("anna", "lena", "maria")
    assert first_names("Anna Lena").joined == first_names("Annalena").joined


def test_a_name_that_is_only_a_particle_stays() -> None:
    assert last_name("Van").parts == ("van",)
    assert last_name("Le").parts == ("le",)
    assert first_names("Van Minh").parts == ("van", "minh")


@pytest.mark.parametrize("text", ["", "  ", "unbekannt", "N.N.", "?", "-", "xxx", "Baby", "Säugling", "Dr.", "123"])
def test_what_is_written_where_no_name_is_known_is_no_name(text: str) -> None:
    assert not first_names(text)


def test_words_for_newborn_children_can_be_family_names() -> None:
    assert not first_names("Knabe")
    assert last_name("Knabe").parts == ("knabe",)
    assert last_name("Zwilling")


@pytest.mark.parametrize(
    "text", ["Bauer geb. Koch", "Bauer, geborene Koch", "Bauer (geb Koch)", "BAUER GEB. KOCH", "Bauer née Koch"]
)
def test_a_birth_name_in_the_field_of_the_family_name_is_found(text: str) -> None:
    family, born = without_birth_name(text)
    assert (last_name(family).joined, last_name(born).joined) == ("bauer", "koch")


def test_a_family_name_that_looks_like_a_birth_name_stays() -> None:
    assert without_birth_name("Gebauer") == ("Gebauer", "")
    assert without_birth_name("geb. Koch") == ("geb. Koch", "")


def test_a_place_is_one_word() -> None:
    assert place("Frankfurt (Oder)") == place("FRANKFURT, Oder") == "frankfurt"
    assert place("Bad Homburg") == place("Bad-Homburg")


def test_no_value_is_in_the_repr_of_a_name() -> None:
    assert "meier" not in repr(last_name("Meier")).lower()
