"""Common first names, in the letters in which they are compared.

A new list has counted no names yet, and would take `Lena` for a typing error of `Lina`. Of names that are written in
several ways (`Sara`, `Sarah`) one is here, so that only names of different people are told apart.
"""

from __future__ import annotations

NAMES = """
    alina amelie amina amira andrea angela anja anke anna anne annika antje astrid ayla aylin ayse barbara beate
    bettina birgit brigitte carla carolin charlotte christa christel christiane christina christine clara claudia
    cornelia dagmar dana daniela daria diana doris edith elena elif elisa elisabeth elke ella ellen elsa emilia emily
    emine emma emmi erika eva evelyn fatma finja franziska frida gabriele gerda gisela greta gudrun hanna hanne hatice
    heide heidi heike helena helene helga hilde hildegard ida ilka ilona ilse ina ines inga inge ingrid irene irina iris
    irma isabel isabella ivana jana janina janine jasmin jelena jenny jessica johanna josefine judith jule julia juliana
    juliane julie juna jutta karin karina katharina katja katrin kerstin kira lara larissa laura lea lena lene leni
    leona leonie lia liane lilia lilli lina linda lisa lore lotta lotte lucia lucie luisa luise luna maja malina mara
    mareike margarete margit margot maria marianne marie marina marion marlene marta martina mathilda melanie
    melina mia michaela michelle mila milena mina mira miriam mona monika nadine nadja natalia natalie nele nelli nicole
    nina nora olga olivia patricia paula pauline petra pia regina regine renate rita romy rosa rosi ruth sabine sabrina
    samira sandra sarah saskia selina selma sema sena sigrid silke silvia simone sina sofia sonja sophie stefanie stella
    susanne svenja tamara tanja tea theresa therese tina ulla ulrike ursula ute vanessa vera verena veronika viktoria
    waltraud yvonne zeynep zoe

    adam adrian ahmet albert alexander alfons alfred ali andreas andrej anton armin arne arno arnold arthur august axel
    bastian ben benjamin bernd bernhard bert berthold bruno christian christoph claus clemens daniel david dennis detlef
    dieter dietmar dirk dominik eberhard eduard elias elmar emil erich erik ernst erwin eugen fabian felix ferdinand
    finn florian frank franz fred friedrich fritz gabriel georg gerald gerd gerhard gregor guenther guido gustav hannes
    hans harald hartmut hasan heiko heiner heinrich heinz helmut hendrik henrik henry herbert hermann holger horst
    hubert hueseyin hugo ibrahim ingo ismail ivan jakob jan jannik jannis jens jochen joel joerg johann johannes jonah
    jonas jonathan josef joshua jovan julian julius juergen justus kai karl karsten kemal kenan kevin klaas konrad
    konstantin kurt lars lasse lennart leo leon leonard levi levin liam linus lorenz luca ludwig luis lukas lutz
    manfred manuel marcel marco mario marius mark markus marlon marten martin marvin matteo matthias max maximilian
    mehmet michael michel mika milan milo mohammed moritz murat mustafa nick nico niels niklas nikolas nils noah norbert
    olaf ole oleg oliver omar orhan oskar osman otto patrick paul peter philipp piotr rainer ralf raphael reinhard
    rene richard robert robin roland rolf roman rudi rudolf ruediger samir samuel sascha sebastian selim serkan
    siegfried silas simon soeren stefan steffen sven taras theo theodor thilo thomas thorsten till tim timo tino tobias
    tom toni torben udo ulf ulrich uwe valentin viktor vincent volker walter werner wilfried wilhelm willi wolfgang
    yannick yusuf
"""
COMMON = frozenset(NAMES.split())
