"""Find out whom the rows of a recoded release are about, by recoding the original table again."""

from __future__ import annotations

import polars as pl

from kohorte.errors import KohorteError
from kohorte.plans.columns import check_columns
from kohorte.plans.plan import Plan
from kohorte.release.preparation import encode_problem
from kohorte.release.recoding import recode, recoding_problem, shown_cells
from kohorte.release.shown_people import ShownPeople
from kohorte.sources import FrameSource


def recoded_again(original: pl.DataFrame, plan: Plan) -> ShownPeople | None:
    """The people of the release that the plan's recoder makes from a table; None if it makes none.

    A cell of a recoded release does not tell from which rows it can come, and a row can fit several classes. But
    recoders draw nothing by chance (or with a seed): from the same table they make the same rows. Whether these are
    the rows of a release is for the caller to compare. Nobody has judged them: the models are asked afterwards.
    """
    check_columns(original.columns, plan)
    try:
        encoded = encode_problem(FrameSource(original), plan)
        recoding = recode(encoded, recoding_problem(encoded))
    except KohorteError as error:
        if error.code == "person-missing":
            raise
        return None
    return ShownPeople.of(encoded.tuples, encoded.untied(shown_cells(recoding), ~recoding.all_starred), plan)
