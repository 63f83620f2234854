"""Recoders that run out of time."""

import polars as pl

from support.recodings import QUASI, recode


def test_local_recoding_without_time_still_releases_what_is_sure():
    table = pl.DataFrame({"q": [str(n % 7) for n in range(100)], "r": [str(n % 11) for n in range(100)]})
    release = recode(table, {"q": QUASI, "r": QUASI}, {"algorithm": "local_recoding", "time_limit": 1e-9}, k=5)
    assert release.smallest_class >= 5
