"""The five set-ups of docs/how-to/set-ups.md, each with houses that share nothing but files they send.

Every set-up runs twice: in this process, and, among the slow tests, with a process for every command.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from kohorte.trust.store import ENVIRONMENT
from support.houses import Command, Houses, in_a_process, in_this_process
from support.identities import ANNA, OTTO, table

ROSA = OTTO | {"vorname": "Rosamunde", "nachname": "Quendelwurz", "geburtsdatum": "1988-02-03", "kvnr": "C555666777"}
NAMES = ("Eichhorst", "Zwickel", "Quendelwurz", "A123456789", "B987654321", "C555666777")
INFARCT, DIABETES, ASTHMA = MEDICAL = ("I21-infarct-canary", "E11-diabetes-canary", "J45-asthma-canary")
IDENTITY = "vorname nachname geburtsname geburtsdatum geschlecht plz ort kvnr"
SOON = f"{datetime.now(UTC) + timedelta(days=7):%Y-%m-%d}"
PURPOSE = "incidental-finding-for-the-physician"
TRUST = "--folder trust"


@pytest.fixture(params=[in_this_process, pytest.param(in_a_process, marks=pytest.mark.slow)])
def houses(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Houses:
    for name in (ENVIRONMENT, "KOHORTE_FOLDER"):
        monkeypatch.delenv(name, raising=False)
    command: Command = request.param
    (tmp_path / "houses").mkdir()
    return Houses(tmp_path / "houses", command)


def read(houses: Houses, house: str, name: str) -> pl.DataFrame:
    return pl.read_csv(houses.at(house) / name, infer_schema=False)


def clinic(houses: Houses) -> None:
    """A clinic has three patients with names and diagnoses."""
    frame = table(ANNA, OTTO, ROSA).with_columns(pl.Series("diagnosis", MEDICAL))
    frame.write_csv(houses.at("clinic") / "clinic.csv")


def approve_and_show(houses: Houses, house: str, options: str) -> None:
    """Two people of a house approve request 1; before that, nothing is shown, also not to the one who asked."""
    houses.sign(house, "approve 1", "Ben")
    if houses.is_fast:
        assert "way-back-open" in houses.sign(house, f"show 1 {options}", "Ada", code=1)
    houses.sign(house, "approve 1", "Cleo")
    houses.sign(house, f"show 1 {options}", "Ada")
    if houses.is_fast:
        assert "way-back-recipient" in houses.sign(house, "show 1", "Ada", code=1)
        assert "way-back-shown" in houses.sign(house, f"show 1 {options}.again", "Ada", code=1)


def test_set_up_1_one_source_anonymizes_for_single_use(houses: Houses) -> None:
    plan = (
        "kohorte: 1\nattributes:\n  name: {role: identifying}\n  sex: {role: quasi-identifying}\n"
        "  diagnosis: {role: sensitive}\nmodels:\n  - {model: k-anonymity, k: 2}\n"
    )
    (houses.at("clinic") / "plan.yaml").write_text(plan)
    rows = {"name": ["Eichhorst", "Zwickel", "Quendelwurz", "Bauer"], "sex": ["f", "m", "f", "m"]}
    pl.DataFrame({**rows, "diagnosis": ["a", "b", "c", "d"]}).write_csv(houses.at("clinic") / "clinic.csv")
    houses.run("clinic", "anonymize clinic.csv --plan plan.yaml --output release.csv")
    for name in ("release.csv", "plan.yaml"):
        houses.send(name, "clinic", "research")
    houses.run("research", "verify release.csv --plan plan.yaml")
    assert read(houses, "research", "release.csv").columns == ["sex", "diagnosis"]
    assert houses.knows("research", *NAMES) == []


def test_set_up_2_overlapping_sources_one_way_and_the_service_stores_nothing(houses: Houses) -> None:
    houses.keys("research", "clinic", "practice")
    for house, pids, diagnoses in (
        ("clinic", ["insured-0001", "insured-0002"], [INFARCT, DIABETES]),
        ("practice", ["insured-0002", "insured-0003"], [ASTHMA, INFARCT]),
    ):
        pl.DataFrame({"pid": pids, "diagnosis": diagnoses}).write_csv(houses.at(house) / f"{house}.csv")
        houses.run(house, f"envelope seal {house}.csv --keep pid --for research.pub --output {house}-sealed.csv")
        houses.send(f"{house}-sealed.csv", house, "service")
    houses.run("service", f"domain create study --kind one-way {TRUST}")
    for house in ("clinic", "practice"):
        name = f"{house}-sealed.csv"
        before = {path.name: path.read_bytes() for path in (houses.at("service") / "trust").iterdir()}
        houses.run("service", f"pseudonymize {name} --domain study --column pid --output to-{name} {TRUST}")
        after = {path.name: path.read_bytes() for path in (houses.at("service") / "trust").iterdir()}
        changed = sorted(name for name in after if after[name] != before.get(name))
        assert changed == ["log.head", "log.jsonl"]  # what was done and how far the log is, no value
        (houses.at("service") / name).unlink()  # what came is passed on, and not kept
        houses.send(f"to-{name}", "service", "research")
        houses.run("research", f"envelope open to-{name} --key research.key --complete --output {house}.csv")
    one, other = read(houses, "research", "clinic.csv"), read(houses, "research", "practice.csv")
    both = one.join(other, on="pid", suffix="_practice")
    assert both.select("diagnosis", "diagnosis_practice").rows() == [(DIABETES, ASTHMA)]
    pids = ("insured-0001", "insured-0002", "insured-0003")
    assert houses.knows("service", *MEDICAL, *pids) == []
    assert houses.knows("research", *pids) == []


def collect(houses: Houses) -> list[str]:
    """Set-ups 3 and 4: names go to the patient list, PIDs to the pseudonym service, diagnoses to research."""
    clinic(houses)
    houses.keys("research", "clinic")
    houses.run("clinic", f"envelope seal clinic.csv --keep {IDENTITY} --for research.pub --output to-list.csv")
    houses.send("to-list.csv", "clinic", "list")
    houses.run("list", f"patients register to-list.csv --output to-service.csv {TRUST}")
    houses.send("to-service.csv", "list", "service")
    houses.run("service", f"domain create research --kind reversible {TRUST}")
    words = "pseudonymize to-service.csv --domain research --column pid --drop registered --output to-research.csv"
    houses.run("service", f"{words} {TRUST}")
    houses.send("to-research.csv", "service", "research")
    houses.run("research", "envelope open to-research.csv --key research.key --complete --output research.csv")
    return read(houses, "list", "to-service.csv")["pid"].to_list()


def refuse_joins(houses: Houses, pids: list[str]) -> None:
    """No house has names together with diagnoses, and only the service has PIDs together with pseudonyms."""
    pseudonyms = read(houses, "research", "research.csv")["pid"].to_list()
    assert len(set(pseudonyms)) == 3
    assert houses.knows("list", *MEDICAL, *pseudonyms) == []
    assert houses.knows("service", *NAMES, *MEDICAL) == []
    assert houses.knows("research", *NAMES, *pids) == []


def test_set_up_3_single_use_and_a_finding_goes_back_to_the_physician(houses: Houses) -> None:
    pids = collect(houses)
    refuse_joins(houses, pids)
    for house in ("list", "service"):
        houses.people(house)
    houses.keys("physician", "research", "list")
    houses.keys("list", "service")
    found = read(houses, "research", "research.csv").filter(pl.col("diagnosis") == DIABETES)
    found.select("pid", finding=pl.lit("BRCA1-canary")).write_csv(houses.at("research") / "finding.csv")
    houses.run("research", "envelope seal finding.csv --keep pid --for physician.pub --output sealed.csv")
    houses.send("sealed.csv", "research", "service")
    asking = f"--file sealed.csv --column pid --for list.pub --purpose {PURPOSE} --until {SOON}"
    houses.sign("service", f"request --domain research {asking}", "Ada")
    approve_and_show(houses, "service", "--with sealed.csv --column pid --for list.pub --output to-list.sealed")
    houses.send("to-list.sealed", "service", "list")
    houses.run("list", "envelope open to-list.sealed --key list.key --output found.csv")
    asking = f"--file found.csv --column pid --for physician.pub --purpose {PURPOSE} --until {SOON}"
    houses.sign("list", f"request --patients {asking}", "Ada")
    show = "--with found.csv --column pid --for physician.pub --output to-physician.sealed"
    approve_and_show(houses, "list", show)
    houses.send("to-physician.sealed", "list", "physician")
    houses.run("physician", "envelope open to-physician.sealed --key physician.key --output half.csv")
    houses.run("physician", "envelope open half.csv --key physician.key --output finding.csv")
    told = read(houses, "physician", "finding.csv")
    assert told.select("last_name", "finding").rows() == [("Zwickel", "BRCA1-canary")]
    assert houses.knows("physician", *pids, *read(houses, "research", "research.csv")["pid"]) == []
    for house in ("service", "list"):
        assert houses.knows(house, "BRCA1-canary", *MEDICAL) == []
    refuse_joins(houses, pids)


def export_to_project(houses: Houses, number: int) -> list[str]:
    """Set-up 4: the list says who agreed, the service keeps their rows, the list confirms, the project opens."""
    covered = f"covered-{number}.csv"
    wish = f"--purpose diabetes-research --project p{number}"
    export = houses.json("list", f"patients consent list {wish} --output {covered} {TRUST}")["export"]
    houses.send(covered, "list", "service")
    only = f"pseudonymize {covered} --domain research --column pid --output who-{covered} {TRUST}"
    houses.run("service", only)
    houses.run("research", f"envelope seal research.csv --keep pid --for project.pub --output out-{number}.csv")
    houses.send(f"out-{number}.csv", "research", "service")
    houses.run("service", f"domain create p{number} --kind list --parent research {TRUST}")
    words = f"pseudonymize out-{number}.csv --domain p{number} --column pid --only who-{covered} --output p{number}.csv"
    houses.run("service", f"{words} {TRUST}")
    houses.run("list", f"patients consent confirm {export} {TRUST}")
    houses.send(f"p{number}.csv", "service", "project")
    houses.run("project", f"envelope open p{number}.csv --key project.key --output data-{number}.csv")
    return read(houses, "project", f"data-{number}.csv")["diagnosis"].to_list()


def test_set_up_4_long_term_database_and_consent_decides_what_a_project_gets(houses: Houses) -> None:
    anna, otto, rosa = pids = collect(houses)
    refuse_joins(houses, pids)
    houses.keys("project", "research")
    pl.DataFrame({"pid": [anna, otto]}).write_csv(houses.at("list") / "agreed.csv")
    houses.run("list", f"patients consent give --file agreed.csv --purpose diabetes-research {TRUST}")
    if houses.is_fast:
        houses.run("list", f"patients consent give {rosa} --purpose teaching {TRUST}")
    assert export_to_project(houses, 1) == [INFARCT, DIABETES]
    withdrawn = houses.json("list", f"patients consent withdraw {anna} {TRUST}")
    assert [(one["export"], one["project"]) for one in withdrawn["exports"]] == [(1, "p1")]
    assert "consent-changed" in houses.run("list", f"patients consent confirm 1 {TRUST}", code=1)
    if houses.is_fast:
        assert export_to_project(houses, 2) == [DIABETES]
        first, second = (set(read(houses, "project", f"data-{number}.csv")["pid"]) for number in (1, 2))
        assert not first & second  # every project has pseudonyms of its own
    else:
        wish = f"--purpose diabetes-research --project p2 --output covered-2.csv {TRUST}"
        assert houses.json("list", f"patients consent list {wish}")["people"] == 1
    assert houses.knows("project", *NAMES, *pids, *read(houses, "research", "research.csv")["pid"]) == []
    assert houses.knows("list", *MEDICAL) == houses.knows("service", *NAMES, *MEDICAL) == []


def test_set_up_5_central_database_under_pids_with_temp_ids(houses: Houses) -> None:
    clinic(houses)
    houses.keys("database", "clinic")
    houses.run("clinic", f"envelope seal clinic.csv --keep {IDENTITY} --for database.pub --output to-list.csv")
    houses.send("to-list.csv", "clinic", "list")
    tokens = "patients register to-list.csv --temp-ids-for database --output to-clinic.csv"
    houses.run("list", f"{tokens} {TRUST}")
    houses.send("to-clinic.csv", "list", "clinic")
    resolve = f"patients temp-id resolve to-clinic.csv --for database --output to-database.csv {TRUST}"
    if houses.is_fast:
        assert "temp-id-refused" in houses.run("list", resolve.replace("for database", "for biobank"), code=1)
    houses.run("list", resolve)
    assert "temp-id-refused" in houses.run("list", resolve + " --force", code=1)
    houses.send("to-database.csv", "list", "database")
    houses.run("database", "envelope open to-database.csv --key database.key --output database.csv")
    stored = read(houses, "database", "database.csv")
    anna, otto, rosa = pids = stored["pid"].to_list()
    assert stored["diagnosis"].to_list() == list(MEDICAL)
    assert houses.knows("clinic", *pids) == houses.knows("list", *MEDICAL) == houses.knows("database", *NAMES) == []

    # a physician looks at one patient: the list gives the token, the database its row, once
    token = houses.run("list", f"patients temp-id issue {otto} --for database {TRUST}").strip()
    look = f"patients temp-id resolve --for database {TRUST}"
    pid = houses.run("list", look, entered=token + "\n").strip()
    assert stored.filter(pl.col("pid") == pid)["diagnosis"].to_list() == [DIABETES]
    if houses.is_fast:
        houses.run("list", look, entered=token + "\n", code=1)

    # samples have labels of their own, and a project gets pseudonyms of its own
    houses.run("database", f"domain create samples --kind list --prefix S- {TRUST}")
    label = "pseudonymize database.csv --domain samples --column pid --drop diagnosis registered --output samples.csv"
    houses.run("database", f"{label} {TRUST}")
    assert not set(read(houses, "database", "samples.csv")["pid"]) & set(pids)
    houses.keys("project", "database")
    pl.DataFrame({"pid": [anna, rosa]}).write_csv(houses.at("list") / "signed.csv")
    houses.run("list", f"patients consent give --file signed.csv --purpose asthma-research {TRUST}")
    houses.run("database", "envelope seal database.csv --keep pid --for project.pub --output sealed.csv")
    houses.send("sealed.csv", "database", "list")
    wish = "--purpose asthma-research --project p7 --output agreed.csv"
    houses.run("list", f"patients consent filter sealed.csv {wish} {TRUST}")
    houses.send("agreed.csv", "list", "service")
    houses.run("service", f"domain create p7 --kind reversible {TRUST}")
    houses.run("service", f"pseudonymize agreed.csv --domain p7 --column pid --output p7.csv {TRUST}")
    houses.send("p7.csv", "service", "project")
    houses.run("project", "envelope open p7.csv --key project.key --output data.csv")
    assert read(houses, "project", "data.csv")["diagnosis"].to_list() == [INFARCT, ASTHMA]
    assert houses.knows("project", *NAMES, *pids) == houses.knows("service", *NAMES, *MEDICAL) == []
