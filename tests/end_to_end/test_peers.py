"""Institutions as processes of their own exchange requests and answers over the network, with certificates.

Two servers run for all of them. Quick tests of the same: parcels that lie, return or are changed in
tests/unit/exchange/peers, decisions and answers in tests/unit/exchange/deciding, requests of peers to a service in
tests/end_to_end/service/test_exchange.py, and pinned certificates in tests/end_to_end/service/test_two_services.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.cli.main import main
from kohorte.data import strict_yaml
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import KohorteError
from kohorte.exchange.peers.answers import ReceivedAnswers
from kohorte.exchange.peers.parcels import LONGEST_HEADER, SignedParcel
from kohorte.exchange.peers.sending import DOOR, deliver, request_to
from kohorte.trust.remote import HouseRefused, OtherHouse
from kohorte.trust.store import ENVIRONMENT
from support.houses import in_this_process
from support.institutions import Institution
from support.registered import few_stand_out
from support.serving import serving
from testbed.hospital import PLAN, STATISTICS, patients, request
from testbed.running import free_port

pytestmark = pytest.mark.slow
PASSWORDS = {"Ben": "correct horse battery", "Cleo": "quite another staple"}
NAMES = {"a": "Institute A", "b": "Hospital B", "c": "Institute C"}
SOON = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
METHADONE: dict[str, Any] = {"attribute": "drug", "is": "methadone"}
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}


@dataclass
class House:
    """An institution: its folder, and its server while it runs."""

    root: Path
    name: str
    port: int
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def institution(self) -> Institution:
        from kohorte.trust.folder import TrustFolder

        return Institution(TrustFolder.opened(self.root / self.name / "exchange"), f"https://127.0.0.1:{self.port}")

    def run(self, *words: str, code: int = 0, password: str = "") -> Any:
        """Run `kohorte exchange` in the folder of this house; returns what it prints as JSON."""
        more = ["--folder", f"{self.name}/exchange", "--json", *(["--password-stdin"] if password else [])]
        done, printed = in_this_process(self.root, [*words, *more], f"{password}\n")
        assert done == code, printed
        return json.loads(printed[printed.index("{") :])  # an error is also told in words

    def exchange(self, *words: str, code: int = 0, password: str = "") -> Any:
        return self.run("exchange", *words, code=code, password=password)

    def start(self) -> None:
        self.stack.enter_context(serving(self.root / self.name, "--only", "exchange", "--port", str(self.port)))

    def stop(self) -> None:
        self.stack.close()

    def asks(self, condition: dict[str, Any], *, to: str = "Hospital B", code: int = 0, **parts: Any) -> Any:
        """Send a request; returns its number."""
        asked = request(condition, institution=NAMES[self.name], until=SOON, **parts)
        (self.root / "request.json").write_text(json.dumps(asked.to_dict()))
        return self.exchange("request", "request.json", "--to", to, code=code)["number"]

    def latest(self) -> int:
        """The latest request that came in."""
        return int(self.exchange("inbox")["requests"][-1]["request"])

    def decides(self, number: int, choice: str = "--release") -> None:
        for name, password in PASSWORDS.items():
            self.exchange("decide", str(number), choice, "--as", name, password=password)
            if choice == "--refuse":
                break  # one is enough

    def answered(self, number: str) -> Path | None:
        """Where the verified table of an answer is; None for a refusal."""
        output = self.root / f"{self.name}-{number}"
        found = self.exchange("read", number, "--output", str(output))
        return output / "table.csv" if found["released"] else None


@dataclass
class Network:
    """Three houses; B has patients."""

    a: House
    b: House
    c: House

    def checked(self, table: pl.DataFrame, *more: str, code: int = 0) -> tuple[int, Any]:
        """Let B check the latest request against a table."""
        number = self.b.latest()
        table.write_csv(self.b.root / "patients.csv")
        check = ("check", str(number), "patients.csv", "--holding", "holding.yaml", "--quiet", *more)
        return number, self.b.exchange(*check, code=code)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    root = tmp_path_factory.mktemp("network")
    (root / "plan.yaml").write_text(strict_yaml.dump(PLAN))
    holding = {"kohorte": 1, "institution": "Hospital B", "plan": "plan.yaml", "policy": "policy.yaml"}
    (root / "holding.yaml").write_text(strict_yaml.dump(holding | {"statistics": STATISTICS, "population": 500_000}))
    from kohorte.exchange.policies import CheckPolicy

    (root / "policy.yaml").write_text(strict_yaml.dump(CheckPolicy.named("default").to_dict() | {"most_removed": 0.5}))
    houses = {name: House(root, name, free_port()) for name in NAMES}
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.delenv(ENVIRONMENT, raising=False)
        for name, house in houses.items():
            house.exchange("peers", "own", "--name", NAMES[name])
            stack.callback(house.stop)
        with ThreadPoolExecutor() as pool:  # C runs only where it is needed
            list(pool.map(House.start, (houses["a"], houses["b"])))
        for one in houses.values():
            for other in houses.values():
                if one is not other:
                    one.institution.knows(other.institution)
        houses["b"].exchange("statistics", "import", "--shipped")
        for name, password in PASSWORDS.items():
            houses["b"].run("reidentify", "add-person", name, "--role", "approver", password=password)
        yield Network(*houses.values())


def test_from_a_request_to_an_answer_that_the_requester_can_verify(network: Network) -> None:
    a, b = network.a, network.b
    number = a.asks(IBUPROFEN)
    [came] = [one for one in b.exchange("inbox")["requests"] if one["request"] == b.latest()]
    assert (came["institution"], came["proven"], came["state"]) == ("Institute A", True, "received")
    here, found = network.checked(patients(900, people=700, treated=350))
    assert found["recommendation"] == "release with changes"
    assert b.exchange("answer", str(here), code=2)["error"] == "exchange-undecided"
    assert b.exchange("answer", str(here), "--output", "x", code=2)["error"] == "exchange-answer-where"
    b.decides(here)
    sent = b.exchange("answer", str(here))
    assert (sent["state"], sent["to"]) == ("delivered", "Institute A")
    table = a.answered(number)
    assert table is not None
    certificate = json.loads(table.with_name("table.certificate.json").read_text())
    (a.root / "answer-plan.yaml").write_text(strict_yaml.dump(certificate["plan"]))
    assert main(["verify", str(table), "--plan", str(a.root / "answer-plan.yaml")]) == 0
    assert b.exchange("answer", str(here), code=2)["error"] == "exchange-answered"
    assert not list((b.root / "b" / "exchange" / "outbox" / f"{number}-answer").glob("files"))
    told = [(one["action"], one["actor"]) for one in b.institution.folder.log.verified_entries()]
    assert [action for action, _ in told][-6:] == [
        "decide request", "begin answer", "record", "answer request", "sign answer", "send parcel",
    ]  # fmt: skip
    assert [actor for action, actor in told if action == "decide request"][-2:] == ["Ben", "Cleo"]
    assert a.institution.actions()[-1] == "receive answer"


def test_refusals_have_the_same_bytes_whatever_the_reason(network: Network) -> None:
    a, b = network.a, network.b
    told = []
    for treated, choice in ((0, "nobody"), (4, "few"), (400, "people refuse")):
        number = a.asks(METHADONE)
        here, _ = network.checked(patients(2000, people=1500, treated=treated), code=0 if treated == 400 else 1)
        if choice != "people refuse":
            denied = b.exchange("decide", str(here), "--release", "--as", "Ben", code=2, password=PASSWORDS["Ben"])
            assert denied["error"] == "exchange-no-draft"
        b.decides(here, "--refuse")
        b.exchange("answer", str(here))
        assert a.answered(number) is None
        facts = json.loads((a.root / f"a-{number}" / "answer.json").read_text())
        assert facts.pop("request")
        assert facts.pop("at")
        told.append((facts, (a.root / f"a-{number}" / "answer.json").stat().st_size))
    assert told[0] == told[1] == told[2]


def test_nothing_is_lost_or_sent_twice_while_a_house_is_down(network: Network) -> None:
    a, b = network.a, network.b
    number = a.asks(IBUPROFEN)
    here, _ = network.checked(patients(900, people=700, treated=350))
    b.decides(here, "--refuse")
    a.stop()
    sent = b.exchange("answer", str(here))
    assert (sent["state"], sent["code"]) == ("waiting", "trust-house-lost")
    assert b.exchange("send", code=1)["sent"][0]["state"] == "waiting"
    a.start()
    assert [one["state"] for one in b.exchange("send")["sent"] if one["number"] == number] == ["delivered"]
    assert b.exchange("send")["sent"] == []
    assert [one for one in ReceivedAnswers(a.institution.folder).numbers() if one == number] == [number]


def test_a_house_with_another_certificate_than_the_pinned_one_gets_nothing(network: Network) -> None:
    a, b, c = network.a.institution, network.b.institution, network.c.institution
    before = b.requests.numbers()
    a.book.remove("Institute C")
    a.knows(replace(c, address=b.address))  # at the address of C somebody else answers
    network.a.asks(IBUPROFEN, to="Institute C")
    waits = network.a.exchange("inbox")["sent"][-1]
    assert (waits["state"], waits["code"]) == ("waiting", "trust-house-other")
    a.book.remove("Institute C")
    a.knows(c)
    assert b.requests.numbers() == before
    network.a.exchange("send", code=1)  # C is not running
    assert network.a.exchange("inbox")["sent"][-1]["code"] == "trust-house-lost"


def test_lies_replays_changes_and_endless_parcels_are_refused_at_the_door(network: Network) -> None:
    a, b = network.a.institution, network.b.institution
    today = datetime.now(UTC).date()
    honest = request_to(a.folder, request(until=SOON), "Hospital B", today=today)
    assert deliver(a.folder, honest).state == "delivered"
    before = b.requests.numbers()
    peer = a.book.named("Hospital B")
    door = OtherHouse(peer.address, a.own.certificate_file, a.own.key_file, a.book.certificate_file(peer))

    def refused(content: bytes, announced: int | None = None) -> str:
        with pytest.raises(KohorteError) as caught:
            door.send(DOOR, [content], announced or len(content))
        return caught.value.reason if isinstance(caught.value, HouseRefused) else caught.value.code

    assert door.send(DOOR, [honest.signed.header], len(honest.signed.header))["number"] == honest.parcel.number
    as_c = replace(honest.parcel, institution="Institute C")
    assert refused(SignedParcel(as_c, a.own.sign(as_c.message)).header) == "exchange-peer-identity"
    inside = replace(honest.parcel, content={"request": request(institution="Institute C", until=SOON).to_dict()})
    assert refused(SignedParcel(inside, a.own.sign(inside.message)).header) == "exchange-peer-identity"
    other = replace(honest.parcel, content={"request": request(IBUPROFEN, until=SOON).to_dict()})
    assert refused(SignedParcel(other, a.own.sign(other.message)).header) == "exchange-replayed"
    assert refused(honest.signed.header.replace(b"Xaver", b"Xaxer")) == "exchange-peer-identity"
    assert refused(b"x" * (LONGEST_HEADER + 2)) == "exchange-too-large"
    assert refused(b"", 2 << 30) == "body-too-large"
    assert b.requests.numbers() == before
    reasons = [one["details"]["reason"] for one in b.folder.log.verified_entries() if one["action"] == "refuse parcel"]
    assert reasons[-5:] == [
        *["exchange-peer-identity"] * 2,
        "exchange-replayed",
        "exchange-peer-identity",
        "exchange-too-large",
    ]
    assert sum(one["action"] == "send parcel" for one in a.folder.log.verified_entries()) > 0


def test_strangers_cannot_even_shake_hands(network: Network, tmp_path: Path) -> None:
    stranger = Institution.at(tmp_path / "stranger", "Institute A")
    b = network.b.institution
    (tmp_path / "b.pem").write_text(b.own.certificate)
    house = OtherHouse(b.address, stranger.own.certificate_file, stranger.own.key_file, tmp_path / "b.pem")
    with pytest.raises(KohorteError) as caught:
        house.send(DOOR, [b"hello\n"], 6)
    assert caught.value.code == "trust-house-lost"


def test_one_person_cannot_decide_twice_and_a_changed_request_or_draft_is_not_answered(network: Network) -> None:
    a, b = network.a, network.b
    number = a.asks(IBUPROFEN)
    here, _ = network.checked(patients(900, people=700, treated=350))
    b.exchange("decide", str(here), "--release", "--as", "Ben", password=PASSWORDS["Ben"])
    again = b.exchange("decide", str(here), "--release", "--as", "Ben", code=1, password=PASSWORDS["Ben"])
    assert again["error"] == "exchange-decider"
    b.exchange("decide", str(here), "--release", "--as", "Cleo", password=PASSWORDS["Cleo"])
    file = b.root / "b" / "exchange" / "requests" / f"{here:04}" / "request.json"
    text = file.read_text()
    file.write_text(text.replace('"ibuprofen"', '"methadone"'))
    assert b.exchange("answer", str(here), code=2)["error"] == "exchange-request-changed"
    file.write_text(text)
    draft = file.with_name("draft.csv")
    draft.write_bytes(draft.read_bytes() + b"\n")
    assert b.exchange("answer", str(here), code=2)["error"] == "exchange-check-changed"
    assert number not in {one["number"] for one in b.exchange("inbox")["sent"]}


def test_old_statistics_stop_a_check_and_nothing_is_sent(network: Network) -> None:
    from kohorte.exchange.policies import CheckPolicy

    a, b = network.a, network.b
    number = a.asks(IBUPROFEN)
    policy = b.root / "policy.yaml"
    text = policy.read_text()
    strict = CheckPolicy.from_yaml(policy).to_dict() | {"statistics_years": 0.001}
    policy.write_text(strict_yaml.dump(strict))
    _, found = network.checked(patients(900, people=700, treated=350), code=2)
    policy.write_text(text)
    assert found["error"] == "exchange-statistics-stale"
    assert number not in {one["number"] for one in b.exchange("inbox")["sent"]}


def all_but_a_few(table: pl.DataFrame) -> dict[str, Any]:
    """All but people of one age and occupation: enough patients, of whom one to four get the drug."""
    people = table.unique("patient").with_columns(treated=pl.col("drug") == "methadone")
    cells = people.group_by("age", "occupation").agg(pl.len(), pl.col("treated").sum())
    cell = cells.filter((pl.col("len") >= 5) & pl.col("treated").is_between(1, 4)).sort("age", "occupation").row(0)
    known = [{"attribute": "age", "is": cell[0]}, {"attribute": "occupation", "is": cell[1]}]
    return {"all": [METHADONE, {"not": {"all": known}}]}


def test_the_neighbour_is_found_by_no_comparison_of_answers_to_two_institutions(network: Network) -> None:
    """Section 4.4: asking for a rare drug, again with slightly different conditions, and through a second house."""
    a, b, c = network.a, network.b, network.c
    c.start()
    few = patients(2000, people=1500, treated=4)
    a.asks(METHADONE)
    here, found = network.checked(few, code=1)
    assert found["recommendation"] == "do not release"
    table = patients(2000, people=1500, treated=400)
    answers: list[tuple[House, str]] = []
    for house, condition in ((a, METHADONE), (a, all_but_a_few(table)), (c, all_but_a_few(table))):
        number = house.asks(condition)
        here, found = network.checked(table)
        assert found["recommendation"] == "release with changes"
        b.decides(here)
        b.exchange("answer", str(here))
        answers.append((house, number))
    tables = [pl.read_csv(path) for house, number in answers if (path := house.answered(number)) is not None]
    assert len(tables) == 3
    assert not any(few_stand_out(tables[0], later) for later in tables[1:])
    released = b.exchange("inbox")["requests"]
    assert released[-1]["institution"] == "Institute C"


def test_who_came_after_an_answer_is_not_singled_out_by_the_next_one_to_the_same_or_another_house(
    network: Network,
) -> None:
    """Section 4.4, a growing table: the same request before and after the neighbour became a patient."""
    a, b, c = network.a, network.b, network.c
    c.stop()
    c.start()
    ledger = ("--ledger", "b/growing")  # knows nothing of the other tests
    before = patients(2000, people=1500, treated=400)

    def answer(house: House, table: pl.DataFrame) -> pl.DataFrame:
        number = house.asks(METHADONE)
        here, found = network.checked(table, *ledger)
        assert found["recommendation"] == "release with changes"
        b.decides(here)
        b.exchange("answer", str(here), *ledger)
        path = house.answered(number)
        assert path is not None
        return pl.read_csv(path)

    first = answer(a, before)
    with closing(Ledger.open(b.root / "b" / "growing")) as memory:
        twin = next(row for row in before.iter_rows(named=True) if memory.releases_of(row["patient"]) == [1])
    newcomer = pl.DataFrame([{**twin, "patient": "P9999999", "name": "The neighbour"}], schema=before.schema)
    grown = pl.concat([before, newcomer])
    for house in (a, c):
        assert not few_stand_out(first, answer(house, grown))
    with closing(Ledger.open(b.root / "b" / "growing")) as memory:
        assert [one["recipient"] for one in memory.releases()] == ["Institute A", "Institute A", "Institute C"]
        assert memory.releases_of("P9999999") == []


def test_who_withdraws_after_the_decision_stops_the_answer_and_is_in_no_later_one(network: Network) -> None:
    a, b = network.a, network.b
    table = patients(900, people=700, treated=350, seed=81).with_columns(pl.col("patient").str.replace("P", "W"))
    a.asks(IBUPROFEN)
    here, _ = network.checked(table)
    b.decides(here)
    with closing(Ledger.open(b.root / "b" / "exchange")) as ledger:
        before = len(ledger.releases())
    gone = table.filter(pl.col("drug") == "ibuprofen")["patient"][0]
    (b.root / "withdrawn.csv").write_text(f"patient\n{gone}\n")
    house = str(b.root / "b" / "exchange")
    assert main(["disclosures", "withdraw", house, str(b.root / "withdrawn.csv"), "--person", "patient"]) == 0
    assert b.exchange("answer", str(here), code=1)["error"] == "disclosure-refused"
    with closing(Ledger.open(b.root / "b" / "exchange")) as ledger:
        assert len(ledger.releases()) == before
    network.checked(table)
    b.decides(here)
    assert b.exchange("answer", str(here))["state"] == "delivered"
    with closing(Ledger.open(b.root / "b" / "exchange")) as ledger:
        assert len(ledger.releases()) == before + 1
        assert ledger.releases_of(gone) == []
