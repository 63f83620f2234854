"""Every screen of the demonstration, in English and in German: no text of a German page is English.

Texts that are the same in both languages are data (names, labels, values, hashes) or on a list that a person has read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.testclient import TestClient

from kohorte.cohorts import cohort
from kohorte.exchange.statistics import shipped_statistics
from kohorte.service.context import Service
from kohorte.service.processes.demonstration import PEOPLE, fill
from kohorte.service.processes.made_up_patients import PEOPLE as PATIENTS
from kohorte.service.web.app import create_app
from kohorte.service.web.screens.survey.routes import EXAMPLE
from support.german import english_words
from support.screens import send, sign_in
from support.trusting import house_in
from support.visible_texts import Shown, texts_and_links

pytestmark = pytest.mark.slow
ROWS, SEED, MOST_ALIKE = 400, 1, 3
SAME = frozenset(
    (
        *("Kohorte", "Name", "Version", "Format", "Symbol", "Text", "PID", "SHA-256", "Deutsch", "English"),
        *("Parquet", "Filter"),
        *("entropy", "classification", "native", "kernels", "kohorte", "python", "polars", "numpy"),
        *("redaction", "Code", "release.csv", "epsilon", "flu", "viral", "infectious", "II", "I", "[flu"),
        *("'*']", "flu;viral;*"),
    )
)
"""Words that are the same in German, or names of programs, files, rules and metrics; a person has read them."""
NAMES = frozenset(
    (
        "HIPAA Safe Harbor",
        "precision_monotone",
        "discernibility_monotone",
        "non_uniform_entropy",
        "non_uniform_entropy_suppression",
    )
)
WRITTEN = (
    "Admissions",
    "Answers with noise",
    "A table for research",
    "Everybody in this table is made up.",
    "Made-up Hospital",
    "Institute A",
    "University B",
    "Diabetes by region",
    "Blood groups of people with diseases of the heart",
    "Incidental finding in the heart study, tell the treating physician",
    "Follow-up of the heart study, invite the patients again",
    "Invite a patient of the registry to a check-up",
    "Dr. Ada Winter",
    "Dr. Xaver Neumann",
    "registry",
    "heart-study",
    "statistics",
    "queries",
)
"""What people of the demonstration have written, and what they have called things."""
TITLES = re.compile(
    r"(Efficient Algorithms|Guide to the De-Identification|l-Diversity: |On the Special|Estimating the )"
)
"""Works that a report cites."""
TABLES = shipped_statistics().tables
CITED = sorted(
    {
        *(one.source or "" for table in TABLES for one in table.entries),
        *(table.origin.source for table in TABLES if "as each row says" not in table.origin.source),
    },
    key=len,
    reverse=True,
)
"""Publications of figures, cited in the language of the table, and offices by their names."""
CODES = re.compile(r"[0-9a-f]{8,}|sha256:[0-9a-f]+|https?://\S+|\S+@\S+|[A-Z0-9]{8}|[a-z]+-[a-z0-9-]+|utf-\d+|cp1252")
_LETTERS = re.compile(r"[A-Za-zÄÖÜäöüß]{2,}")


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, str]]]:
    """The service of `kohorte demo --serve`, and the passwords of its people."""
    with house_in(tmp_path_factory.mktemp("german") / "service") as house:
        accounts = fill(house.service, rows=ROWS, seed=SEED)
        yield house.service, {one.email_address.partition("@")[0]: one.password for one in accounts}


@pytest.fixture(scope="module")
def known() -> frozenset[str]:
    """Names and values of the demonstration: columns, cells, labels of hierarchies, answers of the survey, people."""
    table = cohort(ROWS, seed=SEED)
    cells = {str(cell) for name in table.columns for cell in table[name].to_list()}
    people = {name for name, _ in PEOPLE.values()}
    tables = {one.origin.name for one in TABLES}
    licences = {part for one in TABLES for part in re.split(r", | \(|\)", one.origin.licence)}
    patients = {field for person in PATIENTS for field in person}
    survey = re.findall(r"[\w-]+", EXAMPLE)
    return frozenset({*table.columns, *cells, *people, *tables, *licences, *patients, *survey, *SAME, *NAMES, *WRITTEN})


def visitor(service: Service, name: str, password: str, language: str) -> TestClient:
    client = TestClient(create_app(service), headers={"Accept-Language": language})
    sign_in(client, f"{name}@example.org", password)
    return client


def walked(clients: dict[str, TestClient]) -> Iterator[tuple[str, list[Shown], list[Shown]]]:
    """Every page that links lead to, in English and in German; of many alike, the first ones."""
    waiting, seen, alike = ["/app"], set(), dict[str, int]()
    while waiting:
        path = waiting.pop(0)
        shape = re.sub(r"\d+", "1", path)
        if path in seen or alike.get(shape, 0) >= MOST_ALIKE:
            continue
        seen.add(path)
        alike[shape] = alike.get(shape, 0) + 1
        english, german = (clients[code].get(path) for code in ("en", "de"))
        if "text/html" not in german.headers["content-type"]:
            continue
        assert german.status_code == 200, path
        texts, links = texts_and_links(german.text)
        yield path, texts_and_links(english.text)[0], texts
        targets = (urlsplit(urljoin(path, link)) for link in links)
        waiting += [f"{one.path}?{one.query}".rstrip("?") for one in targets if one.path.startswith("/app")]


def left(english: list[Shown], german: list[Shown], known: frozenset[str]) -> set[str]:
    """What a German page says in English: texts of the English page, or texts with English words."""
    other = {one.text for one in english}
    found = set()
    for one in german:
        text = remaining(one.text, known)
        if not _LETTERS.search(text):
            continue
        if one.language == "en" or one.text in other or english_words(text):
            found.add(one.text)
    return found


def remaining(text: str, known: frozenset[str]) -> str:
    """A text without names, values and codes."""
    if text in known or TITLES.search(text):
        return ""
    for one in CITED:
        text = text.replace(one, "")
    for one in sorted((*WRITTEN, *(name for name, _ in PEOPLE.values())), key=len, reverse=True):
        text = text.replace(one, "")
    parts = re.split(r" · |: |, | – |; | \(|\)", text)
    return " ".join(part for part in parts if part not in known and not CODES.fullmatch(part))


@pytest.mark.parametrize("name", list(PEOPLE))
def test_no_text_of_a_german_screen_is_english(
    demonstration: tuple[Service, dict[str, str]], known: frozenset[str], name: str
) -> None:
    service, passwords = demonstration
    clients = {code: visitor(service, name, passwords[name], code) for code in ("en", "de")}
    found = {path: left(*texts, known) for path, *texts in walked(clients)}
    assert len(found) > 2
    english = "\n".join(f"{path}: {text}" for path, texts in found.items() for text in sorted(texts))
    assert not english, english


@pytest.mark.parametrize("part", ["/plan", "/plan/curves", "/plan/explore"])
def test_what_the_plan_editor_computes_is_german(
    demonstration: tuple[Service, dict[str, str]], known: frozenset[str], part: str
) -> None:
    service, passwords = demonstration
    pages = {}
    for code in ("en", "de"):
        client = visitor(service, "steward", passwords["steward"], code)
        text = re.search(
            r"<textarea[^>]*name=\"text\"[^>]*>(.*?)</textarea>", client.get("/app/datasets/1/plan").text, re.S
        )
        pages[code] = texts_and_links(
            send(
                client, f"/app/datasets/1{part}", show="yes", use="text", text=html.unescape(text[1]) if text else ""
            ).text
        )[0]
    assert left(pages["en"], pages["de"], known) == set()
