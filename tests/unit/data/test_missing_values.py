import datetime as dt

import polars as pl
import pytest

from kohorte.data import as_missing_values, without_marks
from kohorte.errors import InputError


def test_a_listed_text_is_an_empty_cell_in_every_column_and_other_texts_stay():
    frame = pl.DataFrame({"a": ["NA", "1", "na", None], "b": ["x", "k.A.", "NA ", "y"]})
    found = without_marks(frame, ["NA", "k.A."])
    assert found.rows() == [(None, "x"), ("1", None), ("na", "NA "), (None, "y")]
    assert frame["a"].null_count() == 1, "the caller's frame stays as it was"


def test_numbers_and_dates_are_compared_by_their_text():
    day = dt.date(1900, 1, 1)
    frame = pl.DataFrame({"i": [-999, 5], "f": [-999.0, 0.5], "d": [day, dt.date(2000, 1, 2)]})
    found = without_marks(frame, as_missing_values([-999, "1900-01-01"], code="x"))
    assert found.rows() == [(None, None, None), (5, 0.5, dt.date(2000, 1, 2))]
    assert found.schema == frame.schema


@pytest.mark.parametrize("given", ["NA", [""], [True], [None], [1.5], {"NA": 1}, 5])
def test_anything_but_a_list_of_texts_is_refused(given):
    with pytest.raises(InputError, match="missing_values") as caught:
        as_missing_values(given, code="plan-missing-values")
    assert caught.value.code == "plan-missing-values"


def test_a_star_cannot_mean_missing():
    with pytest.raises(InputError, match=r"\* marks suppressed cells"):
        as_missing_values(["NA", "*"], code="plan-missing-values")
