from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import kohorte
from kohorte.data import atomic_write, refuse_same_file, sha256_of
from kohorte.errors import EngineError, InputError, KohorteError

SOURCES = str(Path(next(iter(kohorte.__path__))).parent)


def run(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        timeout=60,
    )


def refusal(path: Path, *, force: bool = False) -> KohorteError:
    with pytest.raises(KohorteError) as caught, atomic_write(path, force=force):
        pytest.fail("the block must not be entered")
    return caught.value


def test_the_file_appears_whole_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with atomic_write(target, force=False) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


def test_the_file_gets_the_usual_rights_in_the_end(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "out", force=False):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_what_a_killed_process_left_of_a_private_file_is_removed_when_it_is_written_again(tmp_path: Path) -> None:
    left, other = (tmp_path / f".{name}.0123456789abcdef.tmp" for name in ("out.csv", "out.csv.gz"))
    for path in (left, other, tmp_path / ".out.csv.tmp"):
        path.write_text("canary")
    with atomic_write(tmp_path / "out.csv", force=True):
        assert left.exists()
    with atomic_write(tmp_path / "out.csv", force=True, private=True) as first:
        assert not left.exists()
        with atomic_write(tmp_path / "out.csv", force=True, private=True) as second:
            assert first.exists()  # it belongs to a running process
            assert second.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".out.csv.gz.0123456789abcdef.tmp",
        ".out.csv.tmp",
        "out.csv",
    ]


def test_a_temporary_file_that_is_taken_away_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, locked = fcntl.flock, []

    def flock(file: int, operation: int) -> None:
        if not locked:
            next(tmp_path.glob(".*.tmp")).unlink()
        locked.append(operation)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with atomic_write(tmp_path / "out", force=False) as temporary:
        temporary.write_text("whole")
    assert (tmp_path / "out").read_text() == "whole"
    assert locked == [fcntl.LOCK_EX] * 2


def test_a_private_file_stays_readable_by_its_owner_only(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "key", force=False, private=True):
        pass
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, RuntimeError, GeneratorExit])
def test_whatever_happens_in_the_block_nothing_is_left(tmp_path: Path, failure: type[BaseException]) -> None:
    target = tmp_path / "out"
    target.write_text("old")

    def interrupted() -> None:
        with atomic_write(target, force=True) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_interrupt_from_outside_leaves_nothing(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from pathlib import Path
from kohorte.data import atomic_write
with atomic_write(Path(sys.argv[1]), force=False) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
"""
    assert "KeyboardInterrupt" in run(program, tmp_path / "out").stderr
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_refused_before_any_work_and_replaced_by_force(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    assert refusal(target).code == "output-exists"
    with atomic_write(target, force=True) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def _overtaken(target: Path) -> None:
    with atomic_write(target, force=False) as temporary:
        temporary.write_text("mine")
        target.write_text("theirs")


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(InputError) as caught:
        _overtaken(target)
    assert caught.value.code == "output-exists"
    assert target.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [target]


def test_where_links_are_not_supported_the_file_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", no_links)
    with atomic_write(tmp_path / "out", force=False) as temporary:
        temporary.write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with pytest.raises(InputError) as caught:
        _overtaken(tmp_path / "other")
    assert caught.value.code == "output-exists"


def test_a_missing_folder_a_folder_and_a_device_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none" / "out").code == "output-folder-missing"
    assert refusal(tmp_path, force=True).code == "output-is-folder"
    assert refusal(Path("/dev/null"), force=True).code == "output-not-a-file"
    assert refusal(tmp_path / ("x" * 300)).code == "output-not-a-file"


def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from kohorte.data import atomic_write
from kohorte.errors import InputError
if os.getuid() == 0:
    os.setuid(65534)
try:
    with atomic_write(Path(sys.argv[1]), force=False):
        print("entered")
except InputError as error:
    print(error.code)
"""
    closed = tmp_path / "closed"
    closed.mkdir()
    for folder in [closed, *closed.parents]:
        if folder.stat().st_uid == os.getuid() and folder.is_relative_to(tmp_path.parent.parent):
            folder.chmod(0o755)
    closed.chmod(0o555)
    assert run(program, closed / "out").stdout.strip() == "output-not-writable"


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("real")
    assert refusal(link).code == "output-exists"
    with atomic_write(link, force=True) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, "disk-full"), (errno.EDQUOT, "disk-full"), (errno.EIO, "write-failed")],
)
def test_a_failure_of_the_disk_at_the_end_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def failing(_: int) -> None:
        raise OSError(number, "CANARY4711")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(EngineError) as caught, atomic_write(tmp_path / "out", force=False):
        pass
    assert caught.value.code == code
    assert "CANARY4711" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource, signal, sys
from pathlib import Path
import polars as pl
from kohorte.data import write_table
from kohorte.errors import EngineError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
frame = pl.DataFrame({"a": [f"CANARY4711-{number}" for number in range(200_000)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_table(frame, Path(sys.argv[1]), like=None, force=False)
    print("written")
except EngineError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_full_disk_is_an_engine_error_and_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    done = run(FULL, tmp_path / f"out{suffix}")
    assert done.stdout.split()[0] in ("disk-full", "write-failed")
    assert "CANARY4711" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small file system needs root")
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_truly_full_file_system_is_called_full(tmp_path: Path, suffix: str) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        program = FULL.replace("resource.setrlimit", "(lambda *_: None)")
        assert run(program, small / f"out{suffix}").stdout.split()[0] == "disk-full"
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_failure_of_polars_is_reported_without_its_words(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught, atomic_write(tmp_path / "out", force=False):
        raise pl.exceptions.ComputeError("CANARY4711")
    assert caught.value.code == "write-failed"
    assert "CANARY4711" not in str(caught.value)


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("x")
    (tmp_path / "link").symlink_to("in")
    os.link(tmp_path / "in", tmp_path / "hard")
    for output in ("in", "link", "hard", "./in"):
        with pytest.raises(InputError) as caught:
            refuse_same_file(tmp_path / "in", tmp_path / output)
        assert caught.value.code == "output-is-input"
    refuse_same_file(tmp_path / "in", tmp_path / "out")


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256_of(tmp_path / "x") == sha256_of(b"abc")
    assert sha256_of(b"abc").startswith("ba7816bf")
    with pytest.raises(InputError) as caught:
        sha256_of(tmp_path / "none")
    assert caught.value.code == "file-unreadable"
