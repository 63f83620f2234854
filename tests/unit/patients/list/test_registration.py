"""Registering people: new, known, grey; again, in two runs, with ugly data."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from kohorte.errors import InputError, KohorteError
from kohorte.patients.list.registration import MOST_IN_BLOCK
from kohorte.patients.patient_list import PatientList
from kohorte.trust.pid import is_pid
from support.identities import ANNA, MARRIED, MISSPELT, OTTO, outcomes, pids, register, table
from testbed import identities


def test_people_get_one_pid_each_and_keep_it(anywhere: PatientList) -> None:
    first = register(anywhere, ANNA, OTTO)
    again = register(anywhere, OTTO, MISSPELT, ANNA)
    assert outcomes(first) == ["new", "new"]
    assert outcomes(again) == ["known", "known", "known"]
    anna, otto = pids(first)
    assert pids(again) == [otto, anna, anna]
    assert is_pid(str(anna))
    assert anna != otto
    assert anywhere.people == 2


def test_a_doubtful_person_gets_a_pid_of_their_own_and_a_case(anywhere: PatientList) -> None:
    (anna,) = pids(register(anywhere, ANNA))
    found = register(anywhere, MARRIED)
    assert outcomes(found) == ["grey"]
    assert pids(found) != [anna]
    (case,) = anywhere.cases()
    assert {case.pid, case.other_pid} == {anna, found.rows[0].pid}
    assert case.levels["family name"] == "different"
    assert case.levels["first names"] == "equal"


def test_rows_of_one_table_are_compared_with_each_other(listed: PatientList) -> None:
    found = register(listed, ANNA, OTTO, MISSPELT, MARRIED)
    assert outcomes(found) == ["new", "new", "known", "grey"]
    assert found.rows[0].pid == found.rows[2].pid
    assert listed.people == 3


def test_a_table_is_registered_once_however_often_it_comes(listed: PatientList) -> None:
    people = (ANNA, OTTO, MARRIED, ANNA | {"vorname": "Baby", "kvnr": ""}, ANNA | {"vorname": "Baby", "kvnr": ""})
    first = register(listed, *people, source="the hash of the file")
    again = register(listed, *people, source="the hash of the file")
    assert pids(first) == pids(again)
    assert again.before == 5
    assert listed.people == len(set(pids(first)))
    assert again.to_dict()["new"] == 0
    assert len(listed.cases()) == first.cases


def test_a_table_that_grows_makes_no_new_cases_of_rows_that_say_little(listed: PatientList) -> None:
    little = ANNA | {"geburtsdatum": "", "kvnr": ""}
    first = register(listed, ANNA, little, source="yesterday")
    assert outcomes(first) == ["new", "grey"]
    later = register(listed, ANNA, little, OTTO, source="today")
    assert outcomes(later) == ["known", "known", "new"]
    assert pids(later)[:2] == pids(first)
    assert len(listed.cases()) == 1


def test_newborn_twins_without_first_names_are_not_taken_for_one(listed: PatientList) -> None:
    baby = {
        "vorname": "Säugling",
        "nachname": "Eichhorst",
        "geburtsdatum": "2024-03-02",
        "geschlecht": "m",
        "plz": "01067",
    }
    found = register(listed, baby, baby)
    assert outcomes(found) == ["new", "grey"]
    assert len(set(pids(found))) == 2
    later = register(listed, baby, OTTO, baby)
    assert [pids(later)[0], pids(later)[2]] == pids(found)
    assert later.to_dict()["known_by_little"] == 2
    third = register(listed, baby, baby, baby)
    assert pids(third)[:2] == pids(found)
    assert outcomes(third)[2] == "grey"


def test_a_record_that_agrees_with_two_people_joins_nobody(listed: PatientList) -> None:
    """Two people of the list who were decided to be different, and a description that fits both."""
    anna, _ = pids(register(listed, ANNA | {"kvnr": ""}, MISSPELT))
    listed.split(str(anna), [2])
    found = register(listed, ANNA | {"kvnr": "", "nachname": "Eichhorzt"})
    assert outcomes(found) == ["grey"]
    assert listed.people == 3
    assert len(listed.cases()) == 2


def test_what_says_too_little_gets_no_pid(listed: PatientList) -> None:
    empty = dict.fromkeys(ANNA, "")
    found = register(listed, empty, empty | {"vorname": "Anna"}, empty | {"kvnr": "0000000000"}, OTTO)
    assert outcomes(found) == ["insufficient"] * 3 + ["new"]
    assert pids(found)[:3] == [None] * 3
    assert found.insufficient == [1, 2, 3]
    assert listed.people == 1


def test_a_birth_date_that_is_not_understood_is_counted_and_left_out(listed: PatientList) -> None:
    found = register(listed, OTTO | {"geburtsdatum": "31.02.1960"}, ANNA | {"geburtsdatum": "unbekannt"}, ANNA)
    assert found.dates_not_understood == [1, 2]
    assert outcomes(found) == ["new", "new", "known"]


def test_ugly_values_are_registered_and_found_again(listed: PatientList) -> None:
    ugly = [
        ANNA | {"vorname": "Anna\x00\n\t", "nachname": "'; DROP TABLE patients_people; --"},
        OTTO | {"nachname": "Ö" * 5_000, "ort": "\U0001f600"},
        {"vorname": "Đặng", "nachname": "Θεοδωράκης", "geburtsdatum": "1999-02-28"},
        {"vorname": "محمد", "nachname": "王小明", "geburtsdatum": "2001-02-03"},
        {"vorname": "X Æ A-12", "nachname": "O’Brien-d'Arc", "geburtsdatum": "20200504"},
    ]
    first = register(listed, *ugly)
    assert outcomes(first) == ["new"] * 5
    assert pids(register(listed, *ugly)) == pids(first)


def test_a_crowd_with_one_name_is_not_compared_with_all_and_counted(listed: PatientList) -> None:
    crowd = [
        {"vorname": "Test", "nachname": "Patient", "geburtsdatum": "1990-01-01", "kvnr": f"T{number:09}"}
        for number in range(1, MOST_IN_BLOCK + 40)
    ]
    found = register(listed, *crowd)
    assert found.to_dict()["not_compared_with_all"] > 0
    assert {row.outcome.value for row in found.rows} <= {"new", "grey"}


def test_a_dry_run_counts_and_stores_nothing(anywhere: PatientList) -> None:
    register(anywhere, ANNA)
    frame = table(MISSPELT, OTTO, MARRIED)
    columns = {"first_names": "vorname", "last_name": "nachname", "birth_date": "geburtsdatum", "postcode": "plz"}
    found = anywhere.register(frame, columns, source="x", dry_run=True)
    assert found.to_dict()["dry_run"]
    assert outcomes(found) == ["known", "new", "grey"]
    assert (anywhere.people, anywhere.cases()) == (1, [])


def test_the_database_contains_neither_names_nor_pids(listed: PatientList, trust: str) -> None:
    found = register(listed, ANNA, OTTO, MARRIED)
    listed.decide(listed.cases()[0].number, same=True)
    listed.close()
    content = b"".join(path.read_bytes() for path in Path(trust).iterdir() if not path.name.endswith(".key")).lower()
    secrets = [*ANNA.values(), *OTTO.values(), *MARRIED.values(), *map(str, pids(found)), "eichhorst", "dresden"]
    assert [value for value in secrets if len(value) > 1 and value.lower().encode() in content] == []


def test_another_key_is_refused_and_a_lost_one_says_what_is_lost(listed: PatientList, trust: str) -> None:
    register(listed, ANNA)
    key = Path(trust) / "patients.key"
    text = key.read_text()
    key.write_text(text.translate(str.maketrans("0123456789abcdef", "123456789abcdef0")).replace(text[:2], text[:2], 1))
    key.write_text("1 " + key.read_text().split()[1] + "\n")
    with pytest.raises(InputError) as caught:
        PatientList.opened(trust)
    assert caught.value.code == "trust-key-other"
    key.unlink()
    with pytest.raises(InputError, match="no PID") as caught:
        PatientList.opened(trust)
    assert caught.value.code == "trust-key-lost"


def test_a_rotated_key_seals_everything_and_changes_no_pid(anywhere: PatientList, trust: str) -> None:
    people = (ANNA, OTTO, MARRIED)
    before = register(anywhere, *people, source="file")
    (forgotten,) = pids(register(anywhere, OTTO | {"vorname": "Emil", "kvnr": "", "geburtsdatum": "1999-08-07"}))
    anywhere.forget(str(forgotten))
    late = PatientList.opened(trust, actor="late")
    assert anywhere.rotate_key() == 2
    key = Path(trust) / "patients.key"
    assert len(key.read_text().splitlines()) == 2
    with pytest.raises(KohorteError) as caught:
        register(late, ANNA)
    late.close()
    assert caught.value.code == "patients-key-rotated"
    for opened in (anywhere, PatientList.opened(trust, actor="later")):
        assert pids(register(opened, *people, source="file")) == pids(before)
        assert pids(register(opened, MISSPELT, OTTO)) == pids(before)[:2]
        assert opened.history(str(pids(before)[0])).pid == pids(before)[0]
        with pytest.raises(InputError) as refused:
            opened.history(str(forgotten))
        assert refused.value.code == "patients-pid-forgotten"
        opened.close()


def test_a_rotation_that_was_killed_before_the_log_had_it_is_told_by_the_next_command(
    listed: PatientList, trust: str
) -> None:
    """The log then knows the database that was sealed again, so that one from before is refused."""
    register(listed, ANNA)
    listed.close()
    database = Path(trust) / "patients.db"
    before = database.read_bytes()
    killed = PatientList.opened(trust, actor="tester")
    killed._storage.rotate()
    killed.close()
    for _ in range(2):
        PatientList.opened(trust, actor="next").close()
    rotations = [entry for entry in killed._folder.log.entries() if entry["action"] == "rotate key"]
    assert [entry["details"]["version"] for entry in rotations] == [2]
    database.write_bytes(before)
    with pytest.raises(KohorteError) as caught:
        PatientList.opened(trust)
    assert caught.value.code == "trust-database-older"


def test_the_old_key_reads_nothing_after_a_rotation(listed: PatientList, trust: str) -> None:
    register(listed, ANNA)
    key = Path(trust) / "patients.key"
    old = key.read_text()
    listed.rotate_key()
    listed.close()
    key.write_text(old)
    with pytest.raises(InputError) as caught:
        PatientList.opened(trust)
    assert caught.value.code == "trust-key-lost"


def test_a_record_that_was_moved_to_another_row_is_refused(listed: PatientList, trust: str) -> None:
    register(listed, ANNA, OTTO)
    with sqlite3.connect(Path(trust) / "patients.db") as database:
        sealed = [row[0] for row in database.execute("SELECT identity FROM patients_records ORDER BY id")]
        database.executemany("UPDATE patients_records SET identity = ? WHERE id = ?", [(sealed[1], 1), (sealed[0], 2)])
    database.close()
    with pytest.raises(KohorteError) as caught:
        register(listed, ANNA)
    assert caught.value.code == "trust-damaged"


def test_generated_patients_are_found_again_without_a_wrong_match(listed: PatientList) -> None:
    known = identities.people(600, seed=3)
    who, described = identities.registrations(known, 300, seed=4)
    strangers = identities.people(100, seed=99)
    columns = {
        "first_names": "vorname", "last_name": "nachname", "birth_name": "geburtsname", "birth_date": "geburtsdatum",
        "sex": "geschlecht", "postcode": "plz", "place": "ort", "insurance_number": "versichertennummer",
    }  # fmt: skip
    first = pids(listed.register(identities.frame(known), columns))
    found = listed.register(identities.frame(described + strangers), columns)
    right = [first[place] for place in who]
    matched = [(row.pid, pid) for row, pid in zip(found.rows, right, strict=False) if row.outcome.value == "known"]
    assert all(pid == expected for pid, expected in matched)
    assert not any(row.outcome.value == "known" for row in found.rows[300:])
    lost = sum(row.outcome.value in ("new", "insufficient") for row in found.rows[:300])
    assert lost <= 300 * 0.05
