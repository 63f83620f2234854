"""Folders of the parts that are put back to an older copy are refused: what was shown once is not shown again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kohorte.service.parts import Part
from kohorte.service.trust import heads
from kohorte.service.trust.confirming import confirm_parts
from kohorte.trust import log
from support.trusting import House, house_in

ANNA = {"first_names": "Anna", "last_name": "Sommer", "birth_date": "1961-04-03"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_in(tmp_path / "service") as opened:
        opened.post("trustee", "/domains", {"name": "study", "kind": "list"}, status=201)
        yield opened


def approved(house: House) -> str:
    made = house.post("source", "/domains/study/pseudonyms", {"originals": ["A1"]})["pseudonyms"]
    until = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    body = {"domain": "study", "pseudonyms": made, "purpose": "incidental finding of the laboratory", "until": until}
    number = house.post("researcher", "/way-back", body, status=201)["request"]
    for name in ("approver", "approver 2"):
        house.post(name, f"/way-back/{number}/approve")
    return f"/way-back/{number}/show"


def put_back(house: House, copy: Path, part: str) -> None:
    shutil.rmtree(house.folder / part)
    shutil.copytree(copy, house.folder / part)
    log._FOLLOWED.clear()  # as after a new start of the service


def test_a_folder_that_was_put_back_does_not_show_a_result_a_second_time(house: House, tmp_path: Path) -> None:
    show = approved(house)
    shutil.copytree(house.folder / "pseudonyms", tmp_path / "copy")
    assert len(house.post("researcher", show)["found"]) == 1
    put_back(house, tmp_path / "copy", "pseudonyms")
    assert house.post("researcher", show, status=503)["code"] == "service-trust-folder"
    assert house.post("source", "/domains/study/pseudonyms", {"originals": ["B2"]}, status=503)
    assert house.get("trustee", "/domains", status=503)["code"] == "service-trust-folder"
    assert set(heads.older_parts(house.service)) == {Part.PSEUDONYMS}
    done = confirm_parts(house.service, reason="the disk was lost")
    assert done["pseudonyms"].declined == 1
    assert house.post("researcher", show, status=403)["code"] == "way-back-declined"
    assert heads.older_parts(house.service) == {}
    audit = house.get("steward", "/audit?limit=10")
    assert "confirm-part" in {entry["action"] for entry in audit["entries"]}
    told = house.post("data-protection-officer", "/way-back/notices")
    assert "confirm folder" in {notice["action"] for notice in told["notices"]}


def test_a_folder_that_was_put_back_does_not_bring_a_forgotten_patient_back(house: House, tmp_path: Path) -> None:
    [row] = house.post("trustee", "/patients/registrations", {"people": [ANNA]})["registrations"]
    shutil.copytree(house.folder / "patients", tmp_path / "copy")
    answer = house.ask("trustee", "POST", "/patients/forget", json={"pid": row["pid"]})
    assert answer.status_code in (200, 204), answer.text
    put_back(house, tmp_path / "copy", "patients")
    refused = house.post("trustee", "/patients/history", {"pid": row["pid"]}, status=503)
    assert refused["code"] == "service-trust-folder"
    assert str(house.folder) not in str(refused)


def test_a_folder_that_was_removed_is_not_silently_a_new_one(house: House) -> None:
    from kohorte.service.trust.folders import make_folders

    shutil.rmtree(house.folder / "pseudonyms")
    log._FOLLOWED.clear()
    make_folders(house.service.settings)
    assert house.get("trustee", "/domains", status=503)["code"] == "service-trust-folder"


def test_work_on_the_command_line_meanwhile_is_no_older_folder(house: House) -> None:
    from kohorte.trust.folder import TrustFolder

    TrustFolder.opened(house.folder / "pseudonyms").log.append("pseudonymize", "domain study", actor="root")
    assert len(house.get("trustee", "/domains")["domains"]) == 1
    assert heads.older_parts(house.service) == {}
