"""Backups: everything comes back, and what was spent after the backup still counts, or nothing is answered."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from sqlalchemy import select

from kohorte.errors import BudgetExceeded, EngineError, InputError
from kohorte.pseudonyms.domains import Domains, definition_of
from kohorte.service.audit import verify_log
from kohorte.service.backup import make_backup, restore
from kohorte.service.context import Service
from kohorte.service.key_rotation import rotate
from kohorte.service.parts import Part
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.projects.spendings import confirm, enter_all, standing
from kohorte.service.settings import Settings
from kohorte.service.spent_log import Head
from kohorte.service.storage.schema import audit
from kohorte.trust.folder import TrustFolder
from support.filled_service import BUDGET, DATA, TENTH, Filled
from support.postgres import cluster
from support.service import new_user, on_sqlite


@pytest.fixture
def filled(service: Service) -> Filled:
    return Filled(service)


@contextmanager
def new_place(service: Service, folder: Path, config: pytest.Config, *, log: bool = True) -> Iterator[Settings]:
    """An empty folder and database with the key and, unless it is lost, the log of spendings."""
    (folder / "keys").mkdir(parents=True)
    shutil.copy2(service.settings.key_path, folder / "keys" / "master.key")
    if log:
        shutil.copy2(service.settings.spent_log, folder / "spent.log")
    if service.database.is_sqlite:
        yield Settings.load(folder, {})
        return
    with cluster(config).database() as address:
        yield Settings.load(folder, {}, database=address)


def amount(service: Service, filled: Filled) -> Fraction:
    return DatabaseLedger(service, *filled.project).spent().amount


def pay(service: Service, filled: Filled, question: str) -> int | None:
    return DatabaseLedger(service, *filled.project, sql="SELECT 1").reserve(question, TENTH, BUDGET)


def test_what_was_spent_after_the_backup_still_counts_when_it_is_restored(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    for _ in range(8):
        filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        done = restore(settings, tmp_path / "backup")
        assert (done.spendings.missing, done.spendings.problem) == (8, None)
        with Service.opened(settings, create=False) as again:
            assert amount(again, filled) == Fraction(9, 10)
            assert verify_log(again.database, again.log).whole
            pay(again, filled, "the last tenth")
            with pytest.raises(BudgetExceeded):
                pay(again, filled, "one too many")
            assert standing(again).missing == 0


def test_a_backup_brings_everything_back_and_holds_neither_key_nor_log(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    made = make_backup(service, tmp_path / "backup")
    assert made.files == len(filled.files) + 1
    key = service.settings.key_path.read_text().strip().encode()
    for path in (tmp_path / "backup").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
        if path.is_file():
            assert key not in path.read_bytes()
            assert bytes.fromhex(key.decode()) not in path.read_bytes()
    assert not list((tmp_path / "backup").rglob("spent.log"))
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        restore(settings, tmp_path / "backup")
        with Service.opened(settings, create=False) as again:
            filled.check(again)


def test_numbers_of_users_who_were_created_after_the_backup_are_not_given_again(
    service: Service, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    kept = new_user(service, privileged=True).id
    make_backup(service, tmp_path / "backup")
    lost = [new_user(service, privileged=False).id for _ in range(3)]
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        shutil.copy(service.settings.state_log, settings.state_log)
        restore(settings, tmp_path / "backup")
        with Service.opened(settings, create=False) as restored:
            assert new_user(restored, privileged=False).id > max(lost) > kept


@on_sqlite
def test_numbers_of_people_whom_the_log_of_a_part_names_are_not_given_again(
    service: Service, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """As after a restore without state.log: the folder of the part is newer than the database."""
    make_backup(service, tmp_path / "backup")
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        folder = TrustFolder.opened(settings.trust_folder(Part.PSEUDONYMS), create=True)
        folder.log.append("ask way back", "request 1", actor="user 41")
        folder.log.append("issue temp ids", "the patient list", actor="Ada", target="user 43")
        restore(settings, tmp_path / "backup")
        with Service.opened(settings, create=False) as restored:
            assert new_user(restored, privileged=False).id == 44


@on_sqlite
def test_a_restored_backup_knows_which_folders_of_parts_belong_to_it(
    service: Service, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    parts = service.settings.trust_folder(Part.PATIENTS), service.settings.trust_folder(Part.PSEUDONYMS)
    logs = [TrustFolder.opened(folder, create=True).log for folder in parts]
    for log in logs:
        log.append("create domain", "domain study", actor="user 1")
    shutil.copytree(parts[0], tmp_path / "older")
    for log in logs:
        log.append("rotate key", "domain study", actor="user 1")
    assert set(make_backup(service, tmp_path / "backup").part_heads) == {"patients", "pseudonyms"}
    logs[1].append("rotate key", "domain study", actor="user 1")
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        shutil.copytree(tmp_path / "older", settings.trust_folder(Part.PATIENTS))
        shutil.copytree(parts[1], settings.trust_folder(Part.PSEUDONYMS))  # newer than the backup, as it should be
        (problem,) = restore(settings, tmp_path / "backup").parts
    assert problem.startswith(f"{settings.trust_folder(Part.PATIENTS)}: its log")
    with new_place(service, tmp_path / "newer", pytestconfig) as settings:
        assert ["is missing" in one for one in restore(settings, tmp_path / "backup").parts] == [True, True]


@on_sqlite
def test_a_restored_backup_completes_the_folders_of_parts_that_have_their_keys_and_logs(
    service: Service, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    folder = service.settings.trust_folder(Part.PSEUDONYMS)
    domains = Domains(TrustFolder.opened(folder, create=True))
    domain = domains.create(definition_of("study", "list"), actor="user 1")
    made = domain.kind.pseudonyms(["canary"], domain.keys.current).pseudonyms
    make_backup(service, tmp_path / "backup")
    stored = list((tmp_path / "backup").rglob("*"))
    assert not [path for path in stored if path.suffix == ".key" or path.name in ("log.jsonl", "log.head")]
    assert not [path for path in stored if path.is_file() and b"canary" in path.read_bytes()]
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        place = settings.trust_folder(Part.PSEUDONYMS)
        place.mkdir(mode=0o700)
        for file in (*folder.glob("*.key"), *folder.glob("log.*")):
            shutil.copy(file, place / file.name)
        assert restore(settings, tmp_path / "backup").parts == ()
        assert Domains(TrustFolder.opened(place)).open("study").kind.originals(made) == ["canary"]


def test_without_the_log_nothing_is_answered_until_somebody_confirms_what_was_spent(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig, log=False) as settings:
        done = restore(settings, tmp_path / "backup")
        assert "is missing" in str(done.spendings.problem)
        with Service.opened(settings, create=True) as again:
            with pytest.raises(EngineError) as caught:
                pay(again, filled, "q")
            assert caught.value.code == "service-spent-log"
            confirm(again, reason="the disk was lost")
            assert pay(again, filled, "q") is not None
            with pytest.raises(InputError) as refused:
                confirm(again, reason="twice")
            assert refused.value.code == "service-spent-log-whole"
            with again.database.reading() as connection:
                entry = connection.execute(select(audit).where(audit.c.action == "confirm-spent")).one()
            assert entry.details == {"reason": "the disk was lost", "entered": 0}


def test_what_can_still_be_read_of_a_damaged_log_counts_when_somebody_confirms(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    for _ in range(4):
        filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        lines = settings.spent_log.read_bytes().splitlines(keepends=True)
        lines[3] = lines[3].replace(b'"1/10"', b'"1/99"')
        settings.spent_log.write_bytes(b"".join([*lines, lines[-1], b"[1]\n", b'{"number": 9, "mac": "\xc3\xa9"}\n']))
        assert restore(settings, tmp_path / "backup").spendings.missing == 0
        with Service.opened(settings, create=True) as again:
            assert confirm(again, reason="one line was damaged") == 3
            assert amount(again, filled) == Fraction(4, 10)
            assert pay(again, filled, "q") is not None
            assert verify_log(again.database, again.log).whole


def test_what_was_spent_after_a_confirmation_counts_when_a_backup_from_before_it_comes_back(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    filled.pay(service)
    service.settings.spent_log.unlink()
    confirm(service, reason="lost")
    filled.pay(service)
    filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        assert restore(settings, tmp_path / "backup").spendings.problem is not None
        with Service.opened(settings, create=True) as again:
            assert confirm(again, reason="the backup is older than the log") == 2
            assert amount(again, filled) == Fraction(3, 10)
            assert standing(again).problem is None


def test_a_confirmation_that_was_killed_forgets_nothing(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> Head:
        raise RuntimeError

    make_backup(service, tmp_path / "backup")
    filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        with settings.spent_log.open("ab") as file:
            file.write(b"damaged\n")
        restore(settings, tmp_path / "backup")
        with Service.opened(settings, create=True) as again:
            monkeypatch.setattr(again.spent_log, "append", die)
            with pytest.raises(RuntimeError):
                confirm(again, reason="damaged")
            monkeypatch.undo()
            assert confirm(again, reason="damaged") == 1
            assert amount(again, filled) == Fraction(2, 10)


def test_a_spending_under_another_composition_is_that_of_a_lost_project(service: Service, filled: Filled) -> None:
    project, user = filled.project
    facts = {
        "project_id": project,
        "user_id": user,
        "question": "q",
        "composition": "zcdp",
        "amount": "1",
        "delta": "0",
    }
    with service.database.writing() as connection:
        service.spent_log.append(Head.locked(connection), {"kind": "spend", **facts})
    assert pay(service, filled, "next") is not None
    assert amount(service, filled) == Fraction(2, 10)
    with service.database.reading() as connection:
        entry = connection.execute(select(audit).where(audit.c.action == "spending-of-lost-project")).one()
    assert entry.details["composition"] == "zcdp"


def test_a_log_that_was_changed_is_refused(service: Service, filled: Filled) -> None:
    path = service.settings.spent_log
    with service.database.reading() as connection:
        before = connection.execute(select(audit)).all()
    whole = path.read_bytes()
    begin, first = whole.splitlines(keepends=True)
    cheaper = first.replace(b'"1/10"', b'"1/99"')
    assert cheaper != first
    for wrong in (begin, begin + first[:-1], begin + begin, first + begin, b"", begin[:-1] + first, begin + b"{}\n"):
        path.write_bytes(wrong)
        with pytest.raises(EngineError) as caught:
            pay(service, filled, "q")
        assert caught.value.code == "service-spent-log"
    path.write_bytes(whole)
    entry = json.loads(first)
    more = json.dumps({**entry, "number": 3, "previous": entry["mac"]}).encode() + b"\n"
    path.write_bytes(whole + more)
    with pytest.raises(EngineError):
        pay(service, filled, "q")
    path.unlink()
    with pytest.raises(EngineError):
        pay(service, filled, "q")
    path.write_bytes(whole)
    with service.database.reading() as connection:
        assert connection.execute(select(audit)).all() == before
    assert pay(service, filled, "q") is not None


def test_an_entry_that_was_made_cheaper_is_noticed_when_an_older_database_comes_back(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        lines = settings.spent_log.read_bytes().splitlines(keepends=True)
        settings.spent_log.write_bytes(b"".join(lines[:-1]) + lines[-1].replace(b'"1/10"', b'"1/99"'))
        assert "was changed" in str(restore(settings, tmp_path / "backup").spendings.problem)


def test_an_older_log_is_noticed(service: Service, filled: Filled) -> None:
    older = service.settings.spent_log.read_bytes()
    filled.pay(service)
    service.settings.spent_log.write_bytes(older)
    assert "older" in str(standing(service).problem)
    with pytest.raises(EngineError):
        pay(service, filled, "q")


def test_a_spending_whose_process_died_before_it_was_paid_counts(
    service: Service, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    def append_then_die(head: Head, facts: dict[str, object]) -> Head:
        append(head, facts)
        raise RuntimeError

    append = service.spent_log.append
    monkeypatch.setattr(service.spent_log, "append", append_then_die)
    with pytest.raises(RuntimeError):
        pay(service, filled, "lost")
    monkeypatch.undo()
    with service.settings.spent_log.open("ab") as file:
        file.write(b'{"number": 4, "half a li')
    assert standing(service).missing == 1
    enter_all(service)
    assert amount(service, filled) == Fraction(2, 10)
    assert pay(service, filled, "next") is not None
    assert (standing(service).missing, standing(service).problem) == (0, None)
    assert verify_log(service.database, service.log).whole


def test_spendings_of_a_project_that_the_backup_does_not_know_are_in_the_audit_log(
    service: Service, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    filled = Filled(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        assert restore(settings, tmp_path / "backup").spendings.missing == 1
        with Service.opened(settings, create=False) as again, again.database.reading() as connection:
            entry = connection.execute(select(audit).where(audit.c.action == "spending-of-lost-project")).one()
            assert entry.object == f"project {filled.project[0]}"
            assert entry.details["amount"] == "1/10"


def test_a_backup_from_before_a_rotation_comes_back_with_the_old_key(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    make_backup(service, tmp_path / "backup")
    old = tmp_path / "old.key"
    shutil.copy2(service.settings.key_path, old)
    rotate(service, lambda *_: None, settle_seconds=0.0)
    filled.pay(service)
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        with pytest.raises(InputError) as caught:
            restore(settings, tmp_path / "backup")
        assert caught.value.code == "service-key"
        assert restore(settings, tmp_path / "backup", old_key=old).spendings.missing == 1
        with Service.opened(settings, create=False) as again:
            assert len(again.vault.ring.all) == 1
            assert amount(again, filled) == Fraction(2, 10)
            assert verify_log(again.database, again.log).whole
            for content, name in filled.files.items():
                assert again.vault.read(name, content) == DATA


def test_no_backup_is_made_while_the_key_is_being_replaced(service: Service, filled: Filled, tmp_path: Path) -> None:
    def in_between(part: str, done: int, of: int) -> None:
        with pytest.raises(InputError) as caught:
            make_backup(service, tmp_path / "backup")
        assert caught.value.code == "service-key-conflict"

    rotate(service, in_between, settle_seconds=0.0)
    assert not (tmp_path / "backup").exists()


def test_nothing_is_overwritten(service: Service, filled: Filled, tmp_path: Path) -> None:
    make_backup(service, tmp_path / "backup")
    with pytest.raises(InputError) as caught:
        make_backup(service, tmp_path / "backup")
    assert caught.value.code == "backup-output"
    with pytest.raises(InputError) as caught:
        restore(service.settings, tmp_path / "backup")
    assert caught.value.code == "service-restore-target"
    filled.check(service)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "service"]


@on_sqlite
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_no_database_is_restored_beside_the_journal_of_another(
    service: Service, filled: Filled, tmp_path: Path, pytestconfig: pytest.Config, ending: str
) -> None:
    make_backup(service, tmp_path / "backup")
    with new_place(service, tmp_path / "new", pytestconfig) as settings:
        (settings.folder / f"service.db{ending}").write_bytes(b"of a service that was killed")
        with pytest.raises(InputError) as caught:
            restore(settings, tmp_path / "backup")
        assert caught.value.code == "service-restore-target"


def test_what_is_no_backup_is_refused(service: Service, tmp_path: Path) -> None:
    make_backup(service, tmp_path / "backup")
    manifest = tmp_path / "backup" / "backup.json"
    text = manifest.read_text()
    for wrong in ("", "[]", "{}", text.replace('"format": 1', '"format": 9'), text.replace("sql", "xql")):
        manifest.write_text(wrong)
        with pytest.raises(InputError) as caught:
            restore(Settings.load(tmp_path / "new", {}), tmp_path / "backup")
        assert caught.value.code == "service-backup"
    assert not (tmp_path / "new").exists()
