"""No identifier of the 18 classes of HIPAA is in an answer, by the name of its column or by its content.

By content: under a neutral name, in a role that keeps it, and shared by dozens of people, so that nothing but what the
values are can keep them out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.exchange.checking.check import Check
from kohorte.exchange.holding import Holding
from kohorte.identifiers import CLASSES
from kohorte.plans import Plan
from kohorte.release import verify, write_release
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}
TABLE = patients(700, people=700, treated=350)

NAMES: dict[int, Sequence[str]] = {
    1: ("surname", "first name", "Patientenname", "Vorname", "maiden_name", "initials", "Arbeitgeber"),
    2: ("street", "city", "county", "Wohnort", "Gemeinde", "Straße", "Bezirk", "latitude", "home_address"),
    3: ("admission_date", "Entlassungsdatum", "Geburtsdatum", "date of death", "Aufnahmetag", "timestamp"),
    4: ("phone", "Telefon", "mobile number", "Handynr", "Rufnummer"),
    5: ("fax", "Faxnummer", "fax_number", "Telefax"),
    6: ("email", "E-Mail-Adresse", "mail", "e_mail_address"),
    7: ("ssn", "social security number", "SVNr", "Sozialversicherungsnummer", "AHV-Nummer"),
    8: ("mrn", "medical_record_number", "Fallnummer", "Patientennummer", "Aktenzeichen"),
    9: ("beneficiary number", "health plan id", "Versichertennummer", "KVNR", "member_id"),
    10: ("account number", "IBAN", "Kontonummer", "credit card", "Bankverbindung"),
    11: ("license number", "passport", "Reisepassnummer", "Führerschein", "certificate no"),
    12: ("license plate", "VIN", "Kennzeichen", "Fahrgestellnummer", "vehicle id"),
    13: ("device id", "serial number", "Seriennummer", "Gerätenummer", "pacemaker_sn", "IMEI"),
    14: ("url", "website", "Homepage", "Internetadresse", "web_address"),
    15: ("ip", "IP address", "IP-Adresse", "ipv6"),
    16: ("fingerprint", "voiceprint", "Fingerabdruck", "iris scan", "DNA-Profil"),
    17: ("photo", "face image", "Passbild", "Lichtbild", "portrait"),
    18: ("pseudonym", "uuid", "Kennnummer", "Probandennummer", "study_id", "barcode"),
}
CONTENTS: dict[int, Sequence[Sequence[str]]] = {
    1: (
        ["Zwettlinger", "Ödenkirchner", "Prohaska-Wlk"], ["Featherstonehaugh", "Cholmondeley", "Ponsonby"],
        ["zwettlinger anna", "ödenkirchner jo"], ["A.B.", "C.D.", "E.F."], ["Klein", "Schwarz", "Groß"],
        ["Farmer", "Cook", "Potter"], ["moderate Zwettlinger", "severe Prohaska"],
        ["nurse Stark", "physician Herz"], ["MM", "KG"], ["Herz-Stark", "Wild-Gut"], ["Stark, nurse", "Herz (nurse)"],
        ["Stark B.", "Wild C."],
    ),
    2: (
        ["Gries am Brenner", "Kaunerberg", "Unterach"], ["Little Snoring", "Ugley", "Nether Wallop"],
        ["Baden", "Gmünd", "Hall"], ["2344", "6156", "8713"], ["A-6156", "A-2344"], ["47.0402", "47.0731"],
        ["47°02'", "46°58'"], ["am Anger 3", "im Winkel 7"], ["Stiege 2", "Stiege 5"], ["u2edk", "u2e7z"],
        ["Klinik Süd", "Krankenhaus Nord"], ["Klinik Gut", "Klinik Hoch"], ["first ward", "second ward"],
    ),
    3: (
        ["14:35", "07:10", "22:50"], ["14.35 Uhr", "7.10 Uhr"], ["2:35 pm", "7:10 am"], ["Mo", "Di", "Mi"],
        ["14.3.", "1.4."], ["March 14", "April 1"],
        ["am 14.3.", "am 1.4."], ["on 3/14", "on 4/1"],
        ["over 93", "over 95"], ["93", "95", "97"], ["93 Jahre", "95 Jahre"],
        ["20250314", "20250401"],
        ["2025-W12", "2025-W14"], ["45730", "45731"],
    ),
    4: (["0664 1234567", "0316 445566"], ["44 55 66", "44 55 77"], ["555-0142", "555-0199"], ["Kl. 412", "Kl. 413"],
        ["private 44-55", "work 44-56"]),
    5: (["F 0316/445566", "F 0316/445577"], ["445566-15", "445577-15"], ["Telefax 4455", "Telefax 4466"]),
    6: (["anna@home", "ben@home"], ["anna(at)home.at", "ben(at)home.at"],
        ["anna AT home DOT at", "ben AT home DOT at"]),
    7: (["078 05 1120", "219 09 9999"], ["1237010180", "1237020280"], ["756 9217 0769 85", "756 1234 5678 97"]),
    8: (["MR-00412", "MR-00413"], ["A-4711/26", "A-4712/26"], ["4711", "4712"], ["Fall 4711", "Fall 4712"]),
    9: (["T555558879", "A123456780"], ["80756000012345678901", "80756000012345678902"], ["H-12-77", "H-12-78"],
        ["health insurance 12-34", "health insurance 47-11"]),
    10: (["AT61 1904 3002 3457 3201", "unknown"], ["19043 00234573", "19043 00234574"], ["K4711", "K4712"]),
    11: (["P1234567", "P7654321"], ["C01X00T47", "C01X00T48"], ["U 1234567", "U 7654321"], ["12345678", "12345679"]),
    12: (["W12345A", "GU123AB", "L471XY"], ["MXY1234", "BAB471"], ["W 123", "G 471"], ["1HGCM82633A004352", "none"]),
    13: (["4711", "0815", "4712"], ["SN-471", "SN-472"], ["471", "472", "473"], ["12-471", "12-472"]),
    14: (["example.org/x", "example.org/y"], ["home.at", "praxis.at"], ["t.me/anna", "t.me/ben"],
        ["klinik.at", "gesundheit.at"],
        ["//praxis/x", "//praxis/y"]),
    15: (
        ["192,168,0,1", "192,168,0,2"], ["10 0 0 7", "10 0 0 8"], ["fe80::", "2001:db8::"],
        ["192-168-0-1", "192-168-0-2"],
        ["3232235521", "3232235522"],
    ),
    16: (["12,33,41,7", "12,33,40,9"], ["Rk1SACAyMAAA", "Rk1SACAyMAAB"], ["whorl a9f3", "loop b2c4"]),
    17: (["IMG_0412", "IMG_0413"], ["DSC00412", "DSC00413"], ["portrait_anna.jpeg", "portrait_ben.jpeg"],
        ["Bild 412"] * 2),
    18: (["x7f3q", "k2m9z"], ["K00412", "K00413"], ["Proband 17", "Proband 18"], ["patient 17", "patient 18"],
        ["employee 12", "employee 47"], ["No. 47-11", "No. 47-12"],
        ["171", "182"]),
}  # fmt: skip
HARMLESS: Mapping[str, tuple[Sequence[str], str]] = {
    "answers": (["yes", "no", "unknown"], ""),
    "answers in German": (["Ja", "Nein", "k. A."], ""),
    "severity": (["mild", "moderate", "severe"], ""),
    "severity in German": (["leicht", "mittelschwer", "schwer"], ""),
    "codes of one sign": (["0", "1", "2"], ""),
    "smoking": (["never smoker", "ex-smoker", "daily smoker"], ""),
    "smoking in German": (["Nichtraucher", "Ex-Raucher", "Raucher"], ""),
    "marital status": (["verheiratet", "ledig", "geschieden"], ""),
    "stages": (["stage I", "stage IIa", "stage IV"], ""),
    "grades": (["Grad 1", "Grad 2", "Grad 3"], ""),
    "wards": (["cardiology", "Innere Medizin", "intensive care"], ""),
    "outcome": (["discharged", "transferred", "died"], ""),
    "outcome in German": (["entlassen", "verlegt", "verstorben"], ""),
    "blood groups": (["A+", "0-", "AB+"], ""),
    "states": (["Wien", "Salzburg", "Tirol", "Steiermark"], ""),
    "states with the names of towns only": (["Berlin", "Hamburg", "Bremen"], ""),
    "countries": (["Austria", "Germany", "Türkei"], ""),
    "occupations": (["teacher", "nurse", "farmer"], ""),
    "codes of states": (["CA", "NY", "TX"], "us-state"),
    "years": (["2001", "2002", "2003"], "year"),
    "diagnoses": (["E11.9", "I10", "J45.0"], "icd-10"),
    "drugs": (["M01AE01", "N02BE01", "C07AB"], "atc"),
    "tests": (["2345-7", "718-7"], "loinc"),
    "procedures": (["5-820.00", "3-200"], "ops"),
    "groups of cases": (["F62B", "I47A"], "drg"),
    "weights in grams": (["2500", "2600", "3100"], "g"),
    "doses": (["1000", "2500", "5000"], "mg"),
    "doses in words": (["1000 mg", "2500 mg", "none"], "mg"),
    "weights": (["71", "80,5", "94"], "kg"),
    "body mass index": (["24.1", "31.7", "18.5"], "kg/m²"),
    "blood pressure": (["120", "145", "95"], "mmHg"),
    "spans": (["[120, 140)", "140-159", ">= 160"], "mmHg"),
    "temperature": (["36.6", "38,2", "40"], "°C"),
    "sodium": (["138", "141", "129"], "mmol/l"),
    "leukocytes": (["7400", "12300"], "/µl"),
    "points": (["15", "100", "55"], "points"),
    "length of stay": (["3", "14", "112"], "days"),
}


def checked(check: Checked, columns: Mapping[str, Sequence[str]], role: str, **contents: str) -> Check:
    """Check a request for more columns, whose values are those of many people each."""
    cells = {name: [values[at % len(values)] for at in range(TABLE.height)] for name, values in columns.items()}
    table = TABLE.with_columns(pl.Series(name, texts) for name, texts in cells.items())
    attributes = {**PLAN["attributes"], **{name: {"role": role} for name in columns}}
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}), contents=contents)
    return check(request(IBUPROFEN, ("age", "sex", *columns)), table, house)


def shown(found: Check, names: Sequence[str]) -> set[str]:
    """Those of the columns of which the draft shows something."""
    assert found.draft is not None, found.record["draft"]["reason"]
    table = found.draft.found.table.in_memory("test")
    return {name for name in names if name in table.columns and set(table[name].drop_nulls()) != {"*"}}


def shown_in_parts(check: Checked, columns: Mapping[str, Sequence[str]], role: str, **contents: str) -> set[str]:
    """Those of many columns of which one of several drafts shows something."""
    found: set[str] = set()
    for start in range(0, len(columns), 60):
        names = list(columns)[start : start + 60]
        part, stated = {name: columns[name] for name in names}, {name: contents[name] for name in names if contents}
        found |= shown(checked(check, part, role, **stated), names)
    return found


def test_each_class_has_an_example_by_name_and_by_content() -> None:
    assert set(NAMES) == set(CONTENTS) == set(CLASSES)


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifying", "insensitive"])
def test_no_class_is_in_an_answer_under_its_name(check: Checked, role: str) -> None:
    names = [name for of_class in NAMES.values() for name in of_class]
    found = checked(check, {name: ["yes", "no"] for name in names}, role)
    dates = set(NAMES[3]) if role != "sensitive" else set()  # a word in a column of dates shows no date
    assert shown(found, names) <= dates


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifying"])
def test_no_class_is_in_an_answer_by_its_content(check: Checked, role: str) -> None:
    columns = {f"field_{number}_{at}": one for number, of in CONTENTS.items() for at, one in enumerate(of)}
    assert shown_in_parts(check, columns, role) == set()


@pytest.mark.slow
@pytest.mark.parametrize("stated", ["kg", "%", "days", "icd-10", "atc", "year", "words"])
def test_no_class_is_in_an_answer_if_the_house_states_a_wrong_content(check: Checked, stated: str) -> None:
    """Short numbers and spans that fit the unit are numbers, whatever they were: nobody can tell them from others."""
    numbers = {("471", "472", "473"), ("171", "182"), ("93", "95", "97"), ("12-471", "12-472")}
    columns = {
        f"field_{number}_{at}": one
        for number, of in CONTENTS.items()
        for at, one in enumerate(of)
        if tuple(one) not in numbers
    }
    assert shown_in_parts(check, columns, "sensitive", **dict.fromkeys(columns, stated)) == set()


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifying"])
def test_ordinary_columns_pass(check: Checked, role: str) -> None:
    wrong = {}
    together, names = 10 if role == "quasi-identifying" else 40, list(HARMLESS)
    for some in (names[start : start + together] for start in range(0, len(names), together)):
        columns = {f"field_{at}": HARMLESS[what][0] for at, what in enumerate(some)}
        stated = {f"field_{at}": HARMLESS[what][1] for at, what in enumerate(some) if HARMLESS[what][1]}
        found = checked(check, columns, role, **stated)
        treated = {one["attribute"]: one for one in found.record["verdicts"]["verdicts"]}
        wrong |= {what: treated[f"field_{at}"]["reasons"] for at, what in enumerate(some)}
    more = "nothing finer lets enough people look alike"  # too many columns for so few people
    assert {what: why for what, why in wrong.items() if set(why) - {more} != {"there are no statistics of it"}} == {}


def test_more_attributes_than_can_be_searched_are_not_released(check: Checked) -> None:
    found = checked(check, {f"field_{at}": ["mild", "severe"] for at in range(30)}, "quasi-identifying")
    assert found.draft is None
    assert "more attributes are asked for than" in found.record["draft"]["reason"]


def test_a_few_unknown_values_are_removed_with_the_people_who_have_them(check: Checked) -> None:
    values = ["mild", "moderate", "severe", "none", "mild", "moderate", "severe", "mild", "moderate", "Zwettlinger"]
    for role in ("sensitive", "quasi-identifying"):
        found = checked(check, {"field_7": values}, role)
        assert shown(found, ["field_7"]) == {"field_7"}
        assert found.draft is not None
        assert "Zwettlinger" not in set(found.draft.found.table.in_memory("test")["field_7"])
        reasons = next(one for one in found.record["verdicts"]["verdicts"] if one["attribute"] == "field_7")["reasons"]
        assert any("could name somebody, because nothing says what it is: left out" in reason for reason in reasons)


def test_labels_must_be_known_by_themselves_or_as_groups_of_known_values(check: Checked) -> None:
    hierarchy = {"rows": [["Kaunerberg", "Tirol", "*"], ["Ugley", "Wien", "*"]]}
    attributes = {**PLAN["attributes"], "field_7": {"role": "quasi-identifying", "hierarchy": hierarchy}}
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))
    table = TABLE.with_columns(pl.Series("field_7", ["Kaunerberg", "Ugley"] * 350))
    found = check(request(IBUPROFEN, ("age", "sex", "field_7")), table, house)
    assert found.draft is not None
    assert set(found.draft.found.table.in_memory("test")["field_7"]) == {"Tirol", "Wien"}
    hierarchy["rows"] = [["mild", "Kaunerberger Skala", "*"], ["severe", "Rest", "*"]]
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))
    words = TABLE.with_columns(pl.Series("field_7", ["mild", "severe"] * 350))
    found = check(request(IBUPROFEN, ("age", "sex", "field_7")), words, house)
    assert next(one for one in found.record["verdicts"]["verdicts"] if one["attribute"] == "field_7")["level"] == 0


@pytest.mark.parametrize("values", [["Kaunerberg", "Ugley"], ["4711", "0815"], ["192,168,0,1", "192,168,0,2"]])
def test_a_condition_on_values_that_are_not_known_is_never_answered(check: Checked, values: list[str]) -> None:
    attributes = {**PLAN["attributes"], "field_7": {"role": "sensitive"}}
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))
    table = TABLE.with_columns(pl.Series("field_7", values * 350))
    found = check(request({"attribute": "field_7", "is": values[0]}, ("age", "sex")), table, house)
    assert found.draft is None
    assert any("identifies them, or may do so" in reason for reason in found.record["recommendation"]["reasons"])


ZWETTLINGER = ["mild", "moderate", "severe"] * 3 + ["Zwettlinger"]
VILLAGES = ["Kaunerberg", "Ugley"]


@pytest.mark.parametrize(
    ("name", "role", "kind", "values", "comparison"),
    [
        ("field_7", "sensitive", None, ZWETTLINGER, {"is": " ZWETTLINGER"}),
        ("field_7", "sensitive", None, ZWETTLINGER, {"in": ["Zwettlinger", "mild", "severe", "moderate"]}),
        ("field_7", "sensitive", None, ZWETTLINGER, {"in": ["mild", "moderate", "Huber-Prohaska"]}),
        ("field_7", "sensitive", None, ZWETTLINGER, {"starts_with": "zwett"}),
        ("field_7", "sensitive", "occupation", ["Zwettlinger", "Prohaska-Wlk"], {"is": "Zwettlinger"}),
        ("field_7", "quasi-identifying", "occupation", ["Zwettlinger", "Prohaska-Wlk"], {"is": "Zwettlinger"}),
        ("field_7", "sensitive", "region", VILLAGES, {"is": "Kaunerberg"}),
        ("field_7", "sensitive", "occupation", ["4711", "4712"], {"at_least": 4711}),
        ("plz", "sensitive", None, VILLAGES, {"is": "Kaunerberg"}),
        ("plz", "quasi-identifying", None, VILLAGES, {"starts_with": "Kau"}),
    ],
)
@pytest.mark.parametrize("negated", [False, True])
def test_a_condition_names_no_value_that_is_not_known(
    check: Checked,
    name: str,
    role: str,
    kind: str | None,
    values: list[str],
    comparison: dict[str, Any],
    *,
    negated: bool,
) -> None:
    """Neither in a column of known values, nor with statistics, nor in a column that is called a ZIP code."""
    attributes = {**PLAN["attributes"], name: {"role": role}}
    house = holding(gaps="ignore")
    statistics = house.statistics | ({name: kind} if kind else {})
    house = replace(house, plan=Plan.from_dict({**PLAN, "attributes": attributes}), statistics=statistics)
    table = TABLE.with_columns(pl.Series(name, values * 700).head(TABLE.height))
    condition = {"attribute": name, **comparison}
    found = check(request({"not": condition} if negated else condition, ("age", "sex")), table, house)
    reasons = found.record["recommendation"]["reasons"]
    assert found.draft is None
    assert any("identifies them, or may do so" in one or "in more detail than" in one for one in reasons)


@pytest.mark.parametrize("comparison", [{"is": "Huber"}, {"starts_with": "Huber"}, {"starts_with": "anna@home.at"}])
@pytest.mark.parametrize("column", [["mild", "severe"], ["mild", "severe"] * 300 + ["Huber"]])
def test_whether_anybody_has_a_value_that_is_not_known_changes_nothing(
    check: Checked, comparison: dict[str, Any], column: list[str]
) -> None:
    attributes = {**PLAN["attributes"], "field_7": {"role": "sensitive"}}
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))
    table = TABLE.with_columns(pl.Series("field_7", (column * 700)[: TABLE.height]))
    either = {"any": [IBUPROFEN, {"attribute": "field_7", **comparison}]}
    assert check(request(either, ("age", "sex")), table, house).draft is None


def test_a_condition_on_known_values_is_answered_beside_values_that_are_not(check: Checked) -> None:
    attributes = {**PLAN["attributes"], "field_7": {"role": "sensitive"}}
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))
    table = TABLE.with_columns(pl.Series("field_7", ZWETTLINGER * 70))
    known = {"attribute": "field_7", "in": ["mild", "Moderate", "SEVERE"]}
    assert check(request(known, ("age", "sex")), table, house).draft is not None


def test_a_region_smaller_than_a_state_is_not_shown_although_there_are_figures_about_it(check: Checked) -> None:
    from kohorte.exchange.checking.known_values import KnownValues

    class Look:
        holding = replace(holding(), statistics={"zip": "region"})

    known = KnownValues("zip", Look())  # type: ignore[arg-type]
    assert known.is_known("Steiermark")
    assert not known.is_known("Gries am Brenner")


WRITTEN: Mapping[str, dict[str, Any]] = {
    "rows": {"rows": [["mild", "Zwettlinger", "*"], ["severe", "Ordination Prohaska", "*"]]},
    "tree": {"tree": {"Zwettlinger": ["mild"], "Kaunerberg": ["severe"]}},
    "spans": {"intervals": {"levels": [{"bounds": [0, 5, 10], "labels": ["Zwettlinger", "W12345A"]}]}},
}


def house_with(hierarchy: dict[str, Any], **attribute: Any) -> Holding:
    attributes = {
        **PLAN["attributes"],
        "field_7": {"role": "quasi-identifying", "hierarchy": hierarchy, **attribute},
    }
    return replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_label_that_the_house_has_written_is_not_shown_because_its_values_are_known(
    check: Checked, kind: str
) -> None:
    values = ["3", "7"] if kind == "spans" else ["mild", "severe"]
    table = TABLE.with_columns(pl.Series("field_7", values * 350))
    found = check(request(IBUPROFEN, ("age", "sex", "field_7")), table, house_with(WRITTEN[kind], minimum_level=1))
    assert shown(found, ["field_7"]) == set()


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifying"])
def test_a_certificate_tells_no_values_that_the_answer_does_not_show(check: Checked, role: str, tmp_path: Path) -> None:
    hierarchy = {"rows": [["Kaunerberg", "Tirol", "*"], ["Ugley", "Wien", "*"]]}
    values = ["Kaunerberg", "Ugley"]
    if role == "sensitive":
        hierarchy, values = {"rows": [["mild", "Kaunerberg", "*"], ["severe", "Ugley", "*"]]}, ["mild", "severe"]
    table = TABLE.with_columns(pl.Series("field_7", values * 350))
    found = check(request(IBUPROFEN, ("age", "sex", "field_7")), table, house_with(hierarchy, role=role))
    assert shown(found, ["field_7"]) == {"field_7"}
    assert found.draft is not None
    write_release(found.draft.found, tmp_path / "draft.csv")
    for path in tmp_path.glob("draft*"):
        assert "Kaunerberg" not in path.read_text(encoding="utf-8"), path.name
    certificate = json.loads((tmp_path / "draft.certificate.json").read_text(encoding="utf-8"))
    assert verify(
        pl.read_csv(tmp_path / "draft.csv", infer_schema=False), Plan.from_dict(certificate["plan"])
    ).satisfied


def test_a_certificate_does_not_repeat_the_purpose_in_which_a_requester_can_name_somebody(
    check: Checked, tmp_path: Path
) -> None:
    asked = replace(request(IBUPROFEN), purpose="Is Anna Zwettlinger, anna@home.at, treated?")
    found = check(asked, TABLE)
    assert found.draft is not None
    write_release(found.draft.found, tmp_path / "draft.csv")
    for path in tmp_path.glob("draft*"):
        assert "Anna" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifying"])
def test_the_verdict_on_a_column_that_nobody_described_says_why_and_what_to_do(check: Checked, role: str) -> None:
    found = checked(check, {"field_7": ["471", "472"]}, role)
    [verdict] = [one for one in found.record["verdicts"]["verdicts"] if one["attribute"] == "field_7"]
    assert verdict["treatment"] == "drop"
    assert verdict["reasons"] == [
        "350 people have a value that could name somebody, because nothing says what it is",
        "if the column is harmless, state its contents in the description of the table",
    ]
