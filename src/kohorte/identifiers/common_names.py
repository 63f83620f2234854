"""Columns of names of people, by names that many people have.

Family names that are also occupations, colours or animals are not in the list: `Bauer`, `Koch`, `Schwarz` and `Fuchs`
say nothing about a column. Names that are also states or everyday words say something only if a column has nothing
else: Georgia, Virginia and Texas are states; Georgia, Virginia and Anna are women.
"""

from __future__ import annotations

import re

import polars as pl

from kohorte.identifiers.cells import Cells

LIKELY = 0.3
"""So large a share of the rows has a name of the list: our own choice; the list has the most frequent names only."""
FEWEST = 3
"""So many different names of the list must occur."""
MOST_PARTS = 2
"""A double name has two parts."""
NAME_LIKE = r"^[\p{L}'’.-]{2,}(?:,? [\p{L}'’.-]+){0,3}$"

FAMILIES = """
    müller schmidt schmid meyer meier maier mayer huber gruber pichler steiner moser hofer leitner berger eder winkler
     reiter brunner egger haas aigner ebner lechner wallner auer binder wimmer hofmann hoffmann
    schulz schulze neumann krüger hartmann krause lehmann köhler scholz möller schubert günther lorenz baumann franke
    albrecht böhm kraus krämer seidel heinrich brandt pohl bergmann voigt wolff pfeiffer lindner hübner wenzel götz
    hermann herrmann kirchner yılmaz yilmaz kaya demir şahin sahin çelik celik yıldız yildiz öztürk öztuerk aydın aydin
    nowak kowalski wiśniewski wójcik ivanov petrov popov jovanović jovanovic nikolić nikolic petrović petrovic horvat
    novak svoboda dvořák dvorak nagy kovács kovacs szabó szabo tóth toth rossi russo ferrari esposito nguyen tran pham
    smith johnson williams jones davis garcia garcía rodriguez martinez hernandez wilson anderson taylor harris thompson
    robinson wright murphy o'brien kelly singh khan patel hussein hassan ibrahim papadopoulos popescu
"""
GIVEN = """
    anna maria eva julia laura lena sarah lisa hannah emma mia sophie sofia marie leonie lina emilia charlotte johanna
    katharina christina christine elisabeth barbara monika renate karin brigitte petra sabine gabriele andrea claudia
    susanne birgit martina daniela stefanie nicole sandra melanie jasmin nina verena theresa magdalena franziska helga
    ingrid gertrud hildegard erika ursula waltraud margarete hermine herta fatma ayşe ayse emine zeynep elif fatima
    aisha elena olga natalia irina ana ivana jelena lukas jakob david maximilian paul jonas felix elias tobias simon
    florian sebastian alexander michael thomas andreas stefan stephan christian daniel markus martin peter johann
    josef franz karl hans walter helmut gerhard herbert manfred günter günther wolfgang werner heinz alfred rudolf
    otto erich kurt matthias bernhard philipp dominik fabian patrick mehmet mustafa ahmet ali hüseyin hasan mohammed
    mohamed ahmad omar ivan marko nikola luka piotr jan tomasz john james robert william mary patricia jennifer linda
    elizabeth susan
"""
ALSO_WORDS = """
    virginia georgia montana nevada jordan israel india kenya ireland england washington hesse wales uri
    herz kind zahn stark gut alt wild krebs judge law day house major strong best ward self black white
"""
NAMES = frozenset(f"{FAMILIES} {GIVEN}".split())
ALL_NAMES = NAMES | frozenset(ALSO_WORDS.split())


def rows_with_names(cells: Cells) -> int:
    """The number of rows that have a name of the list, if the column seems to consist of names; otherwise 0."""
    short = cells.values.str.contains(NAME_LIKE)
    words = cells.values.str.to_lowercase().str.replace_all(r"[,.]", " ").str.split(" ")
    table = pl.DataFrame([words.alias("word"), pl.Series("row", range(len(words)), dtype=pl.Int64)])
    if _only_names(cells.values):
        return cells.rows
    named = table.filter(short).explode("word").filter(pl.col("word").is_in(list(NAMES)))
    if named["word"].n_unique() < FEWEST:
        return 0
    hits = pl.Series(range(len(words)), dtype=pl.Int64).is_in(named["row"].unique().implode())
    rows = cells.with_hit(hits)
    return rows if rows >= LIKELY * cells.rows else 0


def _only_names(values: pl.Series) -> bool:
    """Whether every text is a name that begins with a capital letter, even if also another word, or two of them."""
    if not FEWEST <= len(values) <= len(ALL_NAMES):
        return False
    return all(map(_is_name, values))


def _is_name(text: str) -> bool:
    parts = re.findall(r"[^\W_]+", text)
    return 1 <= len(parts) <= MOST_PARTS and all(one[:1].isupper() and one.casefold() in ALL_NAMES for one in parts)
