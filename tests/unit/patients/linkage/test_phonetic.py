"""Phonetic codes: the published examples."""

from __future__ import annotations

import pytest

from kohorte.patients.linkage.phonetic import cologne, soundex


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("muellerluedenscheidt", "65752682"),  # Müller-Lüdenscheidt
        ("wikipedia", "3412"),
        ("breschnew", "17863"),
        ("mueller", "657"),
        ("muller", "657"),
        ("schmidt", "862"),
        ("schneider", "8627"),
        ("fischer", "387"),
        ("weber", "317"),
        ("wagner", "3467"),
        ("becker", "147"),
        ("hoffmann", "0366"),
        ("schaefer", "837"),
        ("philipp", "351"),
        ("xaver", "4837"),
        ("heinz", "068"),
        ("h", ""),
        ("", ""),
    ],
)
def test_cologne_gives_the_published_codes(word: str, code: str) -> None:
    assert cologne(word) == code


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("robert", "R163"),
        ("rupert", "R163"),
        ("rubin", "R150"),
        ("ashcraft", "A261"),
        ("tymczak", "T522"),
        ("pfister", "P236"),
        ("honeyman", "H555"),
        ("lee", "L000"),
        ("washington", "W252"),
        ("gutierrez", "G362"),
        ("jackson", "J250"),
        ("", ""),
    ],
)
def test_soundex_gives_the_published_codes(word: str, code: str) -> None:
    assert soundex(word) == code
