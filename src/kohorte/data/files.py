"""Write files completely or not at all; errors for files that cannot be read or written."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

from kohorte.errors import EngineError, InputError, KohorteError

_LONGEST = 100
_TEMPORARY = re.compile(r"\.(.{1,100})\.[0-9a-f]{16}\.tmp", re.DOTALL)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that end the command; not every system has all of them."""

if hasattr(signal, "siginterrupt"):
    # When Polars is imported, it handles SIGINT so that a prompt or a wait goes on after Ctrl-C; Python lets it end.
    signal.siginterrupt(signal.SIGINT, True)


@contextlib.contextmanager
def atomic_write(path: Path, *, force: bool, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; if the block succeeds, the file gets its final name.

    Only the owner can read the file until then, and with `private` also afterwards; what a killed process left of a
    private file is removed first. If the block raises, the temporary file is removed and `path` is unchanged. Without
    `force` an existing `path` is refused, first at the start and again, atomically, at the end.
    """
    with _write_failures(path):
        target = _checked_target(path, force=force)
        if private:  # others may still be needed: a series gives the files of a killed release their names
            remove_left_over(target.parent, target.name)
    temporary = target.parent / f".{target.name[:_LONGEST]}.{secrets.token_hex(8)}.tmp"
    descriptor = -1
    try:  # an interruption at any moment after the file exists must remove it
        with _write_failures(path):
            descriptor = _created_and_locked(temporary)
            yield temporary
            flush(temporary)
            if not private:
                temporary.chmod(0o666 & ~_umask())
            _publish(temporary, target, shown=path, force=force)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if descriptor >= 0:
            os.close(descriptor)


class SignalsIgnored:
    """From `begins` until the end of the block, signals such as Ctrl-C are ignored, so that all files are renamed."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}

    def __enter__(self) -> SignalsIgnored:
        return self

    def begins(self) -> None:
        """Ignore signals; only the main thread receives them."""
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                self._before[number] = signal.signal(number, _no_effect)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _no_effect(number: int, frame: FrameType | None) -> None:
    del number, frame


def remove_left_over(folder: Path, name: str | None = None) -> None:
    """Remove the temporary files that killed processes left, of one name or of all; running processes lock theirs."""
    for path in folder.iterdir():
        found = _TEMPORARY.fullmatch(path.name)
        if found is not None and (name is None or found[1] == name[:_LONGEST]):
            with contextlib.suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def _created_and_locked(temporary: Path) -> int:
    """Make a file with a lock that ends with the process."""
    while True:
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # another process took it for one that was left, before it was locked


def flush(path: Path) -> None:
    """Wait until a file, or all files of a folder, are on the disk."""
    for file in filter(Path.is_file, (path, *path.rglob("*"))):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


class Flushing:
    """Brings a written table to the disk while it is read again and verified."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until it is there. The system reports an error of the disk only once, so it is raised here."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            flush(self._path)
        except OSError as error:
            self._error = error


def refuse_output(path: Path, *, force: bool) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    with _write_failures(path):
        _checked_target(path, force=force)


def refuse_same_file(source: Path | str, output: Path | str) -> None:
    """Refuse to write a release over the table it comes from."""
    try:
        same = Path(source).samefile(output)
    except OSError:
        same = os.path.realpath(source) == os.path.realpath(output)
    if same:
        raise InputError(
            f"{output}: the output would replace a file that the input, the plan or a hierarchy is read from; "
            "give another name",
            code="output-is-input",
        )


def sha256_of(data: Path | str | bytes) -> str:
    """Return the SHA-256 of bytes or of the file at a path, in hexadecimal."""
    if isinstance(data, bytes):
        return hashlib.sha256(data).hexdigest()
    try:
        with Path(data).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(data, error) from None


def unreadable(path: Path | str, error: OSError) -> InputError:
    """Return the error for a file that cannot be read, with the kind of reason."""
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: "there is no such file",
        NotADirectoryError: "there is no such file",
        PermissionError: "no permission to read it",
        IsADirectoryError: "it is a folder",
    }
    reason = reasons.get(type(error), "the file system could not read it")
    return InputError(f"{path}: {reason}", code="file-unreadable")


def read_text(path: Path, *, what: str, code: str) -> str:
    """Return the text of a small file, such as a plan; errors get the given code."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: the {what} is not UTF-8 text", code=code) from None
    except OSError as error:
        raise InputError(unreadable(path, error).message, code=code) from None


def _checked_target(path: Path, *, force: bool) -> Path:
    """Resolve symbolic links and refuse a path that cannot be written."""
    if not os.fsencode(path).decode("utf-8", "replace") == str(path):
        raise InputError("the name of the output file is not valid text", code="output-not-a-file")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file", code="output-is-folder")
    if not target.parent.is_dir():
        raise InputError(f"{path}: the folder for the output does not exist", code="output-folder-missing")
    if os.path.lexists(target) and not stat.S_ISREG(target.lstat().st_mode):
        raise InputError(f"{path}: is a device or pipe, not a file", code="output-not-a-file")
    if os.path.lexists(path) and not force:
        raise _exists(path)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write into that folder", code="output-not-writable")
    return target


def _exists(path: Path) -> InputError:
    return InputError(f"{path}: exists already; give another name, or --force to replace it", code="output-exists")


@contextlib.contextmanager
def _write_failures(path: Path) -> Iterator[None]:
    """Turn every failure to write into an error of Kohorte, without the message of the library."""
    try:
        yield
    except KohorteError:
        raise
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if KeyboardInterrupt.__name__ in str(error):  # Ctrl-C while Polars was calling Python
            raise KeyboardInterrupt from None
        raise _failure(path, error) from None


def _failure(path: Path, error: BaseException) -> KohorteError:
    number = error.errno if isinstance(error, OSError) else None
    if number in _FULL or "os error 28" in str(error) or "os error 122" in str(error):
        return EngineError(f"{path}: no space left to write the file; nothing was written", code="disk-full")
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return InputError(f"{path}: no permission to write into that folder", code="output-not-writable")
    if number == errno.ENAMETOOLONG:
        return InputError(f"{path}: the name is too long", code="output-not-a-file")
    return EngineError(f"{path}: the file could not be written; nothing was written", code="write-failed")


def _flush_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    # The mask cannot be read without setting it; a file that another thread creates meanwhile is private.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _publish(temporary: Path, target: Path, *, shown: Path, force: bool) -> None:
    if force:
        temporary.replace(target)
    else:
        _name_once(temporary, target, shown=shown)
    with contextlib.suppress(OSError):  # not every file system can flush a folder
        _flush_folder(target.parent)


def _name_once(temporary: Path, target: Path, *, shown: Path) -> None:
    """Give the file its name unless the name exists: a link fails if it does, a rename would overwrite."""
    try:
        target.hardlink_to(temporary)
    except FileExistsError:
        raise _exists(shown) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise _exists(shown) from None
        temporary.rename(target)
