"""Results for the treating physician over HTTP: sealed for the key that those who approved were told of."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.envelopes.files import open_file
from kohorte.envelopes.keys import make_keys, read_private
from kohorte.envelopes.tables import open_table, seal_table
from kohorte.sources.batches import TableBatches
from support.trusting import House, house_in

OTTO = {"first_names": "Otto", "last_name": "Zwickel", "birth_date": "1971-03-04", "insurance_number": "B987654321"}
ANNA = {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "insurance_number": "A123456789"}
FINDING = "BRCA1-canary"
PURPOSE = "incidental finding, tell the treating physician"
UNTIL = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, House]]:
    folder = tmp_path_factory.mktemp("sealed-results")
    with (
        house_in(folder / "list", only=("patients",)) as listing,
        house_in(folder / "pseudonyms", only=("pseudonyms",)) as naming,
    ):
        naming.post("trustee", "/domains", {"name": "study", "kind": "reversible"}, status=201)
        yield listing, naming


def keys(folder: Path, *names: str) -> dict[str, str]:
    """The texts of public keys."""
    for name in names:
        make_keys(folder / name)
    return {name: (folder / f"{name}.pub").read_text() for name in names}


def approved(house: House, path: str, question: dict[str, Any], name: str = "trustee") -> str:
    asked = house.post(name, path, {"purpose": PURPOSE, "until": UNTIL, **question}, status=201)
    for approver in ("approver", "approver 2"):
        house.post(approver, f"{path}/{asked['request']}/approve")
    return f"{path}/{asked['request']}/show"


def opened(folder: Path, envelope: str, key: str) -> pl.DataFrame:
    (folder / "sealed").write_bytes(base64.b64decode(envelope))
    open_file(folder / "sealed", folder / "opened.csv", read_private(folder / f"{key}.key"), force=True)
    return pl.read_csv(folder / "opened.csv", infer_schema=False)


def registered(house: House, *people: dict[str, str]) -> list[str]:
    found = house.post("trustee", "/patients/registrations", {"people": list(people)})["registrations"]
    return [one["pid"] for one in found]


def test_a_finding_goes_back_to_the_physician_and_no_house_on_the_way_reads_it(
    houses: tuple[House, House], tmp_path: Path
) -> None:
    listing, naming = houses
    public = keys(tmp_path, "physician", "list")
    anna, otto = registered(listing, ANNA, OTTO)
    listing.post("trustee", "/patients/consents", {"pids": [otto], "purposes": ["report-back"]})
    psns = naming.post("source", "/domains/study/pseudonyms", {"originals": [anna, otto]})["pseudonyms"]
    pl.DataFrame({"psn": psns, "finding": [FINDING] * 2}).write_csv(tmp_path / "finding.csv")
    private = read_private(tmp_path / "physician.key")
    seal_table(TableBatches(tmp_path / "finding.csv"), tmp_path / "sealed.csv", ["psn"], private.public)
    sent = pl.read_csv(tmp_path / "sealed.csv", infer_schema=False).to_dicts()

    asking = {"domain": "study", "pseudonyms": psns, "recipient": public["list"]}
    show = approved(naming, "/way-back", asking)
    told = naming.post("trustee", show, {"recipient": public["list"], "rows": sent, "column": "psn"})
    assert (told["found"], told["unknown"]) == (None, 0)
    with_pids = opened(tmp_path, told["envelope"], "list")
    assert with_pids["pid"].to_list() == [anna, otto]

    show = approved(listing, "/patients/way-back", {"pids": [anna, otto], "recipient": public["physician"]})
    handing = {"recipient": public["physician"], "rows": with_pids.to_dicts(), "column": "pid"}
    answer = listing.ask("trustee", "POST", show, json=handing | {"consent": "report-back"})
    assert not [text for text in ("Zwickel", "Eichhorst", FINDING) if text in answer.text]
    told = answer.json()
    assert (told["found"], told["unknown"]) == (None, 1)  # Anna did not agree to be told
    opened(tmp_path, told["envelope"], "physician")
    open_table(TableBatches(tmp_path / "opened.csv"), tmp_path / "finding-opened.csv", private)
    found = pl.read_csv(tmp_path / "finding-opened.csv", infer_schema=False)
    assert found.select("last_name", "finding").rows() == [("Zwickel", FINDING)]
    for house in houses:
        for path in house.folder.rglob("*"):
            assert not path.is_file() or FINDING.encode() not in path.read_bytes(), path


def test_approvers_see_the_recipient_and_nobody_else_gets_the_result(
    houses: tuple[House, House], tmp_path: Path
) -> None:
    _, naming = houses
    public = keys(tmp_path, "physician", "somebody")
    psns = naming.post("source", "/domains/study/pseudonyms", {"originals": ["A1C2D3E4"]})["pseudonyms"]
    show = approved(naming, "/way-back", {"domain": "study", "pseudonyms": psns, "recipient": public["physician"]})
    fingerprint = public["physician"].split("\n")[2]
    assert f"[only for the key {fingerprint}]" in naming.get("approver", show.removesuffix("/show"))["purpose"]
    for body in (None, {}, {"recipient": public["somebody"]}):
        assert naming.post("trustee", show, body, status=403)["code"] == "way-back-recipient"
    fhir = {
        "resourceType": "Parameters",
        "parameter": [
            {"name": "target", "valueString": "study"},
            {"name": "pseudonym", "valueString": psns[0]},
            {"name": "request", "valueInteger": int(show.split("/")[2])},
        ],
    }
    headers = naming.person("trustee").headers
    around = naming.client.post("/ttp-fhir/fhir/gpas/$dePseudonymize", json=fhir, headers=headers)
    assert (around.status_code, "A1C2D3E4" in around.text) == (403, False)
    log = (naming.folder / "pseudonyms" / "log.jsonl").read_text()
    assert log.count('"way-back-recipient"') == 4  # each attempt once
    told = naming.post("trustee", show, {"recipient": public["physician"]})
    assert opened(tmp_path, told["envelope"], "physician").rows() == [(psns[0], "A1C2D3E4")]
    assert naming.post("trustee", show, {"recipient": public["physician"]}, status=403)["code"] == "way-back-shown"


@pytest.mark.parametrize("form", ["[{}]", "[{}].", "\uff3b{}\uff3d", "\u3010{}\u3011"])
def test_a_promise_that_is_typed_into_the_purpose_is_refused(
    houses: tuple[House, House], tmp_path: Path, form: str
) -> None:
    """Otherwise approvers would read that only the physician gets it, and the person who asked would."""
    _, naming = houses
    fingerprint = keys(tmp_path, "physician")["physician"].split("\n")[2]
    psns = naming.post("source", "/domains/study/pseudonyms", {"originals": ["A1C2D3E4"]})["pseudonyms"]
    purpose = f"{PURPOSE} {form.format(f'only for the key {fingerprint}')}"
    wish = {"domain": "study", "pseudonyms": psns, "purpose": purpose, "until": UNTIL}
    assert naming.post("trustee", "/way-back", wish, status=400)["code"] == "way-back-purpose"


def test_what_cannot_be_sealed_does_not_use_up_the_one_time(houses: tuple[House, House], tmp_path: Path) -> None:
    _, naming = houses
    public = keys(tmp_path, "physician")
    private = (tmp_path / "physician.key").read_text()
    weak = f"kohorte envelope public key 1\n{'0' * 64}\n66687aadf862bd77\n"
    psns = naming.post("source", "/domains/study/pseudonyms", {"originals": ["A1C2D3E4"]})["pseudonyms"]
    show = approved(naming, "/way-back", {"domain": "study", "pseudonyms": psns})
    rows = [{"psn": psns[0], "sealed": "x"}]
    for body, code in (
        ({"recipient": "nothing"}, "envelope-key"),
        ({"recipient": private}, "envelope-key"),
        ({"recipient": weak}, "envelope-key"),
        ({"rows": rows, "column": "psn"}, "way-back-table"),
        ({"rows": rows, "recipient": public["physician"]}, "way-back-table"),
        ({"rows": rows, "column": "other", "recipient": public["physician"]}, "way-back-table"),
        ({"rows": [*rows, {"psn": "x"}], "column": "psn", "recipient": public["physician"]}, "way-back-table"),
        ({"rows": [rows[0] | {"pid": "x"}], "column": "psn", "recipient": public["physician"]}, "way-back-table"),
        ({"consent": "report-back"}, "invalid-request"),
    ):
        answer = naming.post("trustee", show, body, status=400)
        assert answer["code"] == code, body
        assert private.split("\n")[1] not in str(answer)
    assert len(naming.post("trustee", show)["found"]) == 1
