"""How a language writes numbers."""

from __future__ import annotations

from kohorte.languages import ENGLISH, language


def test_only_none_is_written_as_none_and_only_all_as_all() -> None:
    german = language("de")
    assert german is not None
    for share, english, in_german in (
        (0.0, "0.0\u00a0%", "0,0\u00a0%"),
        (1.0, "100.0\u00a0%", "100,0\u00a0%"),
        (0.9997, ">\u00a099.9\u00a0%", ">\u00a099,9\u00a0%"),
        (0.0001, "<\u00a00.1\u00a0%", "<\u00a00,1\u00a0%"),
        (0.9994, "99.9\u00a0%", "99,9\u00a0%"),
        (0.0006, "0.1\u00a0%", "0,1\u00a0%"),
        (1.5, "150.0\u00a0%", "150,0\u00a0%"),
    ):
        assert (ENGLISH.percent(share), german.percent(share)) == (english, in_german)
