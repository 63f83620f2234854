"""Columns that look like one of the 18 classes of identifiers, and columns that do not."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.identifiers.cells import CellTable
from kohorte.identifiers.check_digits import (
    austrian_number,
    german_insured_number,
    german_tax_number,
    iban,
    luhn,
    swiss_number,
    vin,
)
from kohorte.identifiers.common_names import rows_with_names
from kohorte.identifiers.detection import CLASSES, Form, form_by_name, suspects, suspects_in
from kohorte.identifiers.names import told_by_name, words_of


def words(text: str) -> list[str]:
    return text.split()


NAMES = {
    1: "name patientName PATIENT_NAME Nachname vorname surname last.name initials employer Patientenname"
    " Zuname Geburtsname Ehepartner Angehörige Notfallkontakt Bezugsperson",
    2: "Heimatort Wohngemeinde Gemeindekennziffer GKZ Zählsprengel Breitengrad Längengrad Postfach"
    " zip ZIPCode plz Postleitzahl postal_code city county street street_address Straße Wohnort precinct latitude",
    3: "GebDat Geb.-Dat. Jahrgang Behandlungstag verstorben_am Erstdiagnose_am Entbindungstermin Aufnahmezeit"
    " dob birth_date DateOfBirth Geburtsdatum admission_date dischargeDate visit_month age Alter age_at_admission",
    4: "Festnetz Rückrufnummer Mobilfunk Kontaktnummer WhatsApp phone"
    " phone2 tel Telefonnummer mobile_number cellPhone handynr",
    5: "fax fax_number Telefaxnummer",
    6: "email E-Mail eMail email_address mailadresse",
    7: "Sozialvers.-Nr. VSNR bPK AHVN13 Steueridentifikationsnummer"
    " Personenkennzahl ssn SVNR social_security_number Sozialversicherungsnummer tax_id",
    8: "Aktenzeichen Aufnahmezahl Krankenaktennummer KIS-Nummer KG-Nummer Patientenakte mrn"
    " medical_record_no patient_id patientID Fallnummer pid patient encounter_id",
    9: "eGK e-card-Nummer EHIC Mitgliedsnummer Polizzennummer"
    " health_plan_id beneficiary_number insurance_number Versichertennummer krankenkassennummer member_id",
    10: "Bankleitzahl Kundennummer Debitor account account_no iban Kontonummer credit_card acct_no",
    11: "Passnummer Behindertenpass Schwerbehindertenausweis Lizenznummer Geburtsurkunde"
    " license_no drivers_licence passport certificate_number Reisepassnummer",
    12: "Autokennzeichen Nummerntafel license_plate vin vehicle_id Kennzeichen Fahrgestellnummer plate_no",
    13: "Implantatnummer Schrittmacher-Nr Herzschrittmacher_SN Gerätekennung device_id"
    " deviceSerial serial_number Seriennummer imei mac_address",
    14: "Internetseite Webadresse Facebook url website homepage",
    15: "IPv4 IP-Adresse ip ip_address IPAddress hostname",
    16: "Stimmprobe DNA-Profil fingerprint voice_print biometrics Fingerabdruck iris_scan",
    17: "Passbild Patientenfoto Porträt photo face face_image Lichtbild portrait image",
    18: "Laufnummer lfd.Nr. Probandennummer Strichcode Benutzerkennung id row_id studyId uuid login Pseudonym",
}
HARMLESS = words("""
    filename file_name drug_name state country education stage dosage ethnicity race sex covid steroid capacity
    visit_no center birth_weight length_of_stay update candidate platelets kontrolle blutbild image_quality icd
    diagnosis insurance_type time_to_death Bypass Fallzahl Fallkennzeichen Röntgen Impfstatus
    Halter bmi velocity language
""")


@pytest.mark.parametrize(("number", "name"), [(n, name) for n, names in NAMES.items() for name in names.split()])
def test_a_name_tells_its_class_and_no_other(number: int, name: str) -> None:
    assert [found for found, _ in told_by_name(name)] == [number]


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_name_tells_nothing(name: str) -> None:
    assert told_by_name(name) == ()


def test_all_18_classes_have_names() -> None:
    assert set(NAMES) == set(CLASSES) == set(range(1, 19))


def test_an_age_of_a_patient_is_an_age_and_no_patient() -> None:
    assert told_by_name("patient_age") == ((3, Form.AGE),)
    assert form_by_name("patient_age") is Form.AGE
    assert form_by_name("zip_id") is Form.DIRECT
    assert form_by_name("sex") is None


@pytest.mark.parametrize(
    ("name", "words"),
    [("patientID2", "patient id 2"), ("IPAddress", "ip address"), ("Straße  Nr.", "strasse nr"), ("_x__y_", "x y")],
)
def test_a_name_is_taken_apart_into_words(name: str, words: str) -> None:
    assert words_of(name) == words


# Contents

CELLS = {
    9: ["A123456780", "insured as T555558879"],
    2: ["Lange Gasse 7", "lives in Hauptstraße 12b"],
    6: ["jo (at) example.org", "a@example.org", "write to jo.e+x@mail.example.co.uk, please"],
    14: ["facebook.com/jo", "https://example.org/x", "see www.example.org"],
    15: ["10.0.0.1", "from 192.168.17.254.", "2001:db8::1", "2001:0db8:0000:0000:0000:ff00:0042:8329"],
    13: ["00:1A:2b:3c:4d:5e", "mac 00-1A-2B-3C-4D-5E"],
    7: [
        "1237 010180",
        "SVNR 1237010180",
        "756.9217.0769.85",
        "123-45-6789",
        "his SSN is 123-45-6789.",
        "65070649C103",
        "65 070649 C 103",
    ],
    4: [
        "Tel. 0664 1234567",
        "handy: 0170/1234567",
        "call 0664 1234567",
        "(555) 123-4567",
        "call 555-123-4567",
        "+49 89 1234567",
        "tel. +1 (555) 123-4567",
    ],
    10: [
        "at611904300234573201",
        "DE89370400440532013000",
        "to DE89 3704 0044 0532 0130 00",
        "4111 1111 1111 1111",
        "378282246310005",
    ],
    12: ["1HGCM82633A004352", "vin 1M8GDM9AXKP042788"],
    17: ["scan_17.dcm", "face.JPG", "data:image/png;base64,xx", "/9j/4AAQSkZJRg"],
    18: ["d41d8cd98f00b204e9800998ecf8427e", "550e8400-e29b-41d4-a716-446655440000"],
    1: ["seen by Dr. Miller", "Frau Meier was here"],
    3: [
        *("2024-02-17", "17.02.2024", "2/17/2024", "2024/02/17", "2024-02-17T10:00:00", "on 2024-02-17 at noon"),
        *("March 3, 2021", "in March 2021", "3 Mar 2021", "3. März 2021", "17. Februar 2024", "17-FEB-2024"),
    ],
}
VAGUE = {
    4: ["0664123456", "(0732) 78060", "0049 89 1234567", "089/1234567", "5552345678"],
    10: ["XX00ABCDEFGHIJKLMNO"],
    1: ["A. M."],
    7: ["86095742719", "47 036 892 816"],
    14: ["@jo_example"],
    12: ["L-123AB", "W 12345 X", "M-AB 1234", "B-XY 99"],
    2: ["12345-6789", "A-4020", "4020 Linz", "48.3069, 14.2858"],
    3: ["5.3.", "5. März", "1700000000", "20240217", "17.02.24", "2024-02", "02/2024", "2024-Q1", "2024-W07"],
}
HARMLESS_CELLS = words("""
    120/80 5/10 1:20 12:30:45 A00.1 C50.9 2160-0 718-7 1.2.3 [1990,2000) 100-199 1990-1999 90+ 7.35
    756.9217.0769.84 A123456789 86095742718 Hauptstraße C50.911
    0.4111111111111111 4111111111111112 1M8GDM9AXKP042789 2024 3.14e+10 -17 +5 1,000-2,000 {a,b}
""")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "cell"), [(n, cell) for n, cells in CELLS.items() for cell in cells])
def test_one_cell_in_many_is_found_also_in_the_middle_of_a_text(number: int, cell: str) -> None:
    column = pl.Series("x", [cell, *["nothing"] * 49])
    [found] = suspects(column, 50, least=0.0)
    assert found.number == number
    assert found.why.endswith("in 1 row")
    assert suspects(column, 50, least=0.05) == []


@pytest.mark.parametrize(("number", "cell"), [(n, cell) for n, cells in VAGUE.items() for cell in cells])
def test_what_is_vague_has_to_stand_in_nearly_all_rows(number: int, cell: str) -> None:
    assert [found.number for found in suspects(pl.Series("x", [cell] * 10), 10)] == [number]
    assert suspects(pl.Series("x", [cell] * 5 + ["y"] * 5), 10) == []
    assert [found.number for found in suspects(pl.Series("x", [cell, "y"]), 2, mostly=0.0)] == [number]


@pytest.mark.parametrize("cell", HARMLESS_CELLS)
def test_a_harmless_cell_is_not_suspected(cell: str) -> None:
    assert suspects(pl.Series("x", [cell] * 10), 10, least=0.0) == []


def test_check_digits() -> None:
    assert austrian_number("1237 010180")
    assert not austrian_number("1238 010180")
    assert swiss_number("756.9217.0769.85")
    assert not swiss_number("756.9217.0769.84")
    assert german_tax_number("86095742719")
    assert not german_tax_number("86095742718")
    assert german_insured_number("A123456780")
    assert not german_insured_number("A123456789")
    assert luhn("4111 1111 1111 1111")
    assert not luhn("4111 1111 1111 1112")
    assert not luhn("0000000000000000")
    assert iban("DE89 3704 0044 0532 0130 00")
    assert not iban("DE88 3704 0044 0532 0130 00")
    assert vin("1HGCM82633A004352")
    assert not vin("1HGCM82643A004352")
    assert not vin("1" * 17)


# Names and contents together


@pytest.mark.parametrize(
    ("name", "unsafe", "safe"),
    [
        ("zip", ["94305", "94305-1234", "943", "9430*"], ["000", "*", None, "unknown"]),
        (
            "age",
            ["90", "104", "90-94", ">=100", "[95, 100)"],
            ["89", "90+", ">=90", "90 or older", "85-94", "<100", "*"],
        ),
        ("admission_date", ["2024-02-17", "2024-02", "2024-Q1", "3", "March"], ["2024", "2020-2029", "*", None]),
        ("birth_year", ["1901", "1900-1909", "3.4.1990"], ["1990", "1900-1999", "*"]),
    ],
)
def test_a_form_that_may_stay_is_no_suspicion(name: str, unsafe: list[str], safe: list[str | None]) -> None:
    assert suspects(pl.Series(name, safe, dtype=pl.String), len(safe), least=0.0) == []
    for cell in unsafe:
        found = suspects(pl.Series(name, [cell, *safe], dtype=pl.String), len(safe) + 1, least=0.0)
        assert {suspicion.number for suspicion in found} <= {2, 3}
        assert found, cell


def test_a_column_that_shows_nothing_is_not_suspected() -> None:
    assert suspects(pl.Series("ssn", ["*", None, ""], dtype=pl.String), 3) == []


# Distinct values


def test_a_value_of_its_own_for_nearly_every_row() -> None:
    for column in ([f"x{number}" for number in range(50)], list(range(50)), [f"{7 * n:06}" for n in range(50)]):
        [found] = suspects(pl.Series("x", column), 50)
        assert (found.number, found.form) == (18, Form.UNIQUE)


def test_measurements_and_few_rows_are_no_codes() -> None:
    assert suspects(pl.Series("x", [number * 1.7 for number in range(50)]), 50) == []
    assert suspects(pl.Series("x", [number * 7 for number in range(50)]), 50) == []
    assert suspects(pl.Series("x", [f"x{number}" for number in range(19)]), 19) == []
    assert suspects(pl.Series("x", [f"x{number // 2}" for number in range(50)]), 50) == []


def test_free_text_is_suspected_and_long_categories_are_not() -> None:
    notes = [f"the patient came with complaint number {n} again" for n in range(25)]
    assert [s.form for s in suspects(pl.Series("x", notes + [None] * 50), 75)] == [Form.FREE_TEXT]
    assert suspects(pl.Series("x", notes[:3] * 25), 75) == []


def test_a_sample_says_that_it_is_one() -> None:
    column = pl.Series("x", ["a@example.org", *["y"] * 99])
    assert [found.why for found in suspects(column, 100, sample=50)] == ["contains e-mail addresses in at least 1 row"]
    assert suspects(column.reverse(), 100, sample=50) == []


@pytest.mark.parametrize(
    "names",
    [
        ["Huber", "Gruber", "Pichler", "Zschoche"],
        ["ANNA MÜLLER", "EVA HOFER", "KARL KOCH"],
        ["Anna", "Lukas", "Julia", "Brünhilde"],
        ["Mayer, Eva", "Steiner, A.", "Hofer, Karl Heinz"],
    ],
)
def test_columns_of_names_are_recognised_by_names_that_many_have(names: list[str]) -> None:
    cells = CellTable.of([pl.Series("x", [*names, None, "*"], dtype=pl.String)])[0]
    assert rows_with_names(cells) >= 3


@pytest.mark.parametrize(
    "values",
    [
        ["Bauer", "Koch", "Fischer", "Lehrer"],
        ["Diabetes mellitus", "Asthma", "Morbus Huber"],
        ["male", "female"],
        ["St. Anna Hospital", "Ward 2"],
        [],
    ],
)
def test_occupations_diseases_and_hospitals_are_no_names(values: list[str]) -> None:
    assert rows_with_names(CellTable.of([pl.Series("x", values, dtype=pl.String)])[0]) == 0


# What holds for all columns

TEXTS = st.one_of(
    st.sampled_from([cell for cells in (*CELLS.values(), *VAGUE.values()) for cell in cells]),
    st.text(max_size=20),
    st.integers(-(10**17), 10**17).map(str),
)


@given(st.lists(TEXTS, min_size=1, max_size=30), st.sampled_from(["x", "age", "zip", "birth_year", "visit_date"]))
def test_what_is_said_holds_no_value(values: list[str], name: str) -> None:
    for found in suspects(pl.Series(name, values), len(values), least=0.0):
        assert re.fullmatch(
            r"(by its name|contains [A-Za-z ()-]+|nearly every row|, | in [\d,]+ rows?|[a-z 89,]+)*", found.why
        )
        assert not [value for value in values if len(value) > 5 and value in found.why]


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=30), st.sampled_from(["x", "age", "zip", "birth_year"]), st.data())
def test_suppressing_rows_makes_no_column_suspect(values: list[str], name: str, data: st.DataObject) -> None:
    """Vague things aside: those count from the first row on where rows may be suppressed."""
    starred = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    shown = ["*" if star else value for star, value in zip(starred, values, strict=True)]
    before = suspects(pl.Series(name, values), len(values), least=0.0, mostly=0.0)
    after = suspects(pl.Series(name, shown), len(values), least=0.0)
    assert before or not after


# The patterns that the profile had before: nothing that they found is lost, but names of things and what patients have

OLD_NAMES = words("""
    name patient_name ssn svnr vorname nachname surname firstname lastname mail email phone tel telefon mobil fax
    url ip iban konto account mrn pid patient fallnummer versichertennummer krankenkassennummer insurance_number
    passport licence license street strasse straße adresse address device serial id case_id phone_nr tel_home
    home_address device_type account_type patient_id patient_nr mobil_nr ip_addr
""")


@pytest.mark.parametrize("name", OLD_NAMES)
def test_what_was_an_identifier_by_name_still_is_one(name: str) -> None:
    assert form_by_name(name) is Form.DIRECT


@pytest.mark.parametrize("name", ["month", "day", "Monat", "Tag", "month_of_admission", "agegroup", "ageBand"])
def test_names_of_parts_of_dates_and_of_age_groups_are_known(name: str) -> None:
    cells = pl.Series(name, ["4", "90-94", "95"], dtype=pl.String)
    assert 3 in {suspicion.number for suspicion in suspects(cells, 3, least=0.0)}


@pytest.mark.parametrize(
    ("number", "cells"),
    [
        (1, ["Smith, John", "O'Neill, Mary A."]),
        (2, ["94305", "10115"]),
        (3, ["4/2021", "12/2020"]),
        (3, ["2021 Q4", "KW 50 2021"]),
        (3, ["she is 93 years old", "home since May"]),
        (7, ["123456789", "987654321"]),
    ],
)
def test_what_reviewers_could_smuggle_through_is_suspected(number: int, cells: list[str]) -> None:
    found = suspects(pl.Series("x", cells, dtype=pl.String), 2, least=0.0)
    assert number in {suspicion.number for suspicion in found}


@pytest.mark.parametrize(
    "layout",
    ["{},{:02}", "{}.{:02}", "1.{:03},{:02}", "1,{:03}.{:02}", "1'{:03}.{:02}", "1 {:03},{:02}", "1\u00a0{:03}.{:02}"],
)
def test_measurements_are_no_identifiers_however_their_decimals_are_written(layout):
    column = pl.Series("weight", [layout.format(7 * row, row * 37 % 100) for row in range(60)])
    assert suspects(column, 60) == []


@pytest.mark.parametrize("layout", ["1 {:03} {:03}", "1.{:03}.{:03}", "A{:03}{:03}"])
def test_codes_in_groups_of_digits_are_identifiers_if_every_row_has_its_own(layout):
    column = pl.Series("x", [layout.format(row, row * 37 % 1000) for row in range(60)])
    assert [found.form for found in suspects(column, 60)] == [Form.UNIQUE]


def test_columns_are_suspected_together_as_each_is_alone():
    columns = [
        pl.Series("mail", ["a@example.org", "b@example.org", None] * 10),
        pl.Series("Nachname", ["x", "*", ""] * 10),
        pl.Series("n", [str(row) for row in range(30)]),
        pl.Series("sex", ["f", "m", "f"] * 10),
        pl.Series("born", ["2001-02-03", "1999-01-01", "*"] * 10),
    ]
    together = suspects_in(CellTable.of(columns), 30)
    assert together == [suspects(column, 30) for column in columns]
    assert [bool(found) for found in together] == [True, True, True, False, True]
