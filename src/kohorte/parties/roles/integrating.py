"""Put the encrypted tables of all parties together, as the study says."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.parties.integration import append, join, refuse_lost, refuse_nobody
from kohorte.parties.sealed import SealedTable, malformed
from kohorte.parties.study import Study


def integrate(study: Study, tables: Mapping[str, SealedTable]) -> tuple[SealedTable, dict[str, int]]:
    """Join the parties of each group and append the groups; return the whole table and the rows that each lost."""
    parts, lost = integrated_groups(study, tables)
    return parts[0] if len(parts) == 1 else append(parts), lost


def integrated_groups(study: Study, tables: Mapping[str, SealedTable]) -> tuple[list[SealedTable], dict[str, int]]:
    """The joined table of each group, and the rows that each party lost; one table of all if nothing is joined."""
    for name, table in tables.items():
        if set(table.columns) != set(study.columns_of(name)) or (table.identifiers is not None) != study.joins:
            raise malformed(f"the table of {name} does not have the columns of the study")
    if not study.joins:
        return [append([tables[name] for name in study.names])], {}
    parts: list[SealedTable] = []
    lost: dict[str, int] = {}
    for names in study.groups().values():
        part, own = join({name: tables[name] for name in names})
        if study.all_people:
            refuse_lost(own, part.rows, dummies=study.dummies > 0)
        parts.append(in_plan_order(part, study))
        lost |= own
    refuse_nobody(parts)
    return parts, lost


def in_plan_order(table: SealedTable, study: Study) -> SealedTable:
    """The table without identifiers, its columns in the order of the plan."""
    columns = {name: table.columns[name] for name in study.plan.attributes if name in table.columns}
    return SealedTable(columns, None, table.counters)
