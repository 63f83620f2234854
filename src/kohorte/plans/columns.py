"""Compare the columns of a table with those of a plan."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kohorte.data import Role
from kohorte.errors import InputError, nearest
from kohorte.plans.plan import Plan


def check_columns(columns: Sequence[str], plan: Plan, *, may_lack: Sequence[Role] = ()) -> None:
    """Refuse columns that the plan does not name, and columns of the plan that the table does not have.

    If no column fits, the message does not show the header, because without a header line it would be a row of data. A
    name that polars would interpret as a pattern is refused: `*` or `^...$` would stand for other columns, too.
    """
    if not isinstance(plan, Plan):
        raise InputError("give a Plan, for example Plan.from_yaml('plan.yaml')", code="plan-type")
    patterns = [name for name in plan.attributes if name == "*" or re.fullmatch(r"\^.*\$", name, re.DOTALL)]
    if odd := [*patterns, *(name for name in plan.attributes if "\0" in name)]:
        hints = ", ".join(repr(name) for name in odd)
        raise InputError(f"rename these columns, their names look like a pattern: {hints}", code="columns-name")
    if not set(columns) & set(plan.attributes):
        raise InputError(
            f"none of the plan's {len(plan.attributes)} columns is in the table, which has {len(columns)} "
            f"column{'' if len(columns) == 1 else 's'}: is the separator right, and is there a header line?",
            code="columns-none-fit",
        )
    always = {*plan.histograms, *(() if plan.subset is None or may_lack else (plan.subset.name,))}
    optional = {plan.subset.name} if plan.subset is not None and may_lack else set()
    needed = [
        name
        for name, attribute in plan.attributes.items()
        if (attribute.role not in may_lack or name in always) and name not in optional
    ]
    absent = [name for name in needed if name not in columns]
    if absent:
        hints = ", ".join(repr(name) + nearest(name, set(columns) - set(plan.attributes)) for name in absent)
        raise InputError(f"the table does not have these columns of the plan: {hints}", code="columns-missing")
    strangers = [name for name in columns if name not in plan.attributes]
    if strangers:
        hints = ", ".join(repr(name) for name in strangers)
        raise InputError(
            f"the plan does not name these columns of the table: {hints}; give each a role "
            "(identifying, quasi-identifying, sensitive or insensitive)",
            code="columns-unnamed",
        )
