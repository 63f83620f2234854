"""Parties as processes of their own, each with a ledger: every protocol records a joint release, without the withdrawn.

A quick test of the same is tests/unit/parties/test_memory.py; tests/end_to_end/test_party.py has protocol A with rows
divided and withdrawals that come from a consent register while a party serves.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.cli.main import main
from kohorte.disclosures.ledger import Ledger
from support.joint_studies import ZIP_PLAN, ZIP_ROWS
from support.party_stage import Process, Stage

PARTIES = ("clinic-a", "clinic-b")
PEOPLE = [f"t{number}" for number in range(ZIP_ROWS.height)]
COLUMNS = {"clinic-a": ["zip"], "clinic-b": ["sex", "diagnosis"]}
WITHDRAWS = "t1"


def staged(folder: Path, protocol: str, distribution: str) -> Stage:
    plan = {**ZIP_PLAN, "suppression_limit": 0.5, "metric": {"metric": "non_uniform_entropy"}}
    if distribution == "vertical":
        tables = {name: ZIP_ROWS.select(pl.Series("tid", PEOPLE), *COLUMNS[name]) for name in PARTIES}
        more: dict[str, Any] = {"identifier": "tid", "parties": {name: {"columns": COLUMNS[name]} for name in PARTIES}}
    else:
        plan["attributes"] = {**ZIP_PLAN["attributes"], "tid": {"role": "identifying"}}
        tables = dict.fromkeys(PARTIES, ZIP_ROWS.with_columns(pl.Series("tid", PEOPLE)))
        more = {"dummies": 0.25} if protocol == "C" else {}
    stage = Stage.built(folder, plan, tables, protocol=protocol, distribution=distribution, **more)
    for name in PARTIES:
        assert main(["disclosures", "init", str(folder / f"{name}-house")]) == 0
        settings = folder / name / "party.yaml"
        settings.write_text(settings.read_text(encoding="utf-8") + f"ledger: ../{name}-house\nperson: tid\n")
    (folder / "withdrawn.csv").write_text(f"tid\n{WITHDRAWS}\n")
    house = str(folder / "clinic-b-house")
    assert main(["disclosures", "withdraw", house, str(folder / "withdrawn.csv"), "--person", "tid"]) == 0
    return stage


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "distribution"),
    [("A", "vertical"), ("B", "horizontal"), ("B", "vertical"), ("C", "horizontal"), ("C", "vertical")],
)
def test_a_joint_release_of_every_protocol_is_in_the_ledger_of_each_party_without_who_withdrew(
    tmp_path: Path, protocol: str, distribution: str
) -> None:
    stage = staged(tmp_path, protocol, distribution)
    starter = stage.starter
    others = [name for name in stage.study.members if name != starter]
    with ExitStack() as stack:
        served = [stack.enter_context(Process.started(stage, name)) for name in others]
        for name in others:
            stage.wait_until_listening(name)
        started = stack.enter_context(Process.started(stage, starter))
        told = [process.ended() for process in (started, *served)]
    assert [one.code for one in told] == [0] * len(told), told
    released = pl.read_csv(stage.output("clinic-a"), infer_schema=False)
    of_withdrawn = ZIP_ROWS["diagnosis"][PEOPLE.index(WITHDRAWS)]
    expected = 0 if distribution == "vertical" else 1  # with rows divided, the other party has a person of this name
    assert released["diagnosis"].to_list().count(of_withdrawn) == expected
    for name in PARTIES:
        with closing(Ledger.open(tmp_path / f"{name}-house")) as ledger:
            [facts] = ledger.releases()
            assert (facts["kind"], facts["recipient"]) == ("joint", next(one for one in PARTIES if one != name))
            assert stage.study.fingerprint() in facts["about"]
            if name == "clinic-b":
                assert ledger.releases_of(WITHDRAWS) == []
                assert facts["people"] == len(PEOPLE) - 1
