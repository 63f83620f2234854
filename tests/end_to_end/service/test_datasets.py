"""Uploads over a real socket, read by a real worker: sizes, interruptions, and what lies on the disk."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from testbed.running import Running, running

LIMIT = 100 << 20
TYPE = {"Content-Type": "multipart/form-data; boundary=xyz"}
CANARY = b"Zaphod-Beeblebrox"
TEXTS = {"name": "Heart Diseases", "description": "Heart diseases among German residents"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("datasets") / "service"
    found.mkdir(mode=0o700)
    (found / "service.yaml").write_text(f"upload_limit: {LIMIT}\n")
    return found


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Running]:
    with running(folder) as found:
        found.set_up()
        yield found


@pytest.fixture(scope="module")
def john(server: Running) -> Iterator[httpx.Client]:
    with server.signed_in() as client:
        yield client


def upload(client: httpx.Client, content: bytes, file_name: str = "a.csv", **headers: str) -> httpx.Response:
    return client.post("/datasets", files={"file": (file_name, content)}, data=TEXTS, headers=headers)


def locked(folder: Path) -> set[str]:
    return {path.name for path in (folder / "files").iterdir()}


def soon(condition: Any, seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(condition())


def memory_of(server: Running) -> int:
    """The most memory that the process which answers had so far, in bytes."""
    number = server.process.pid
    children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    [answering] = [child for child in children if "server_process" in Path(f"/proc/{child}/cmdline").read_text()]
    status = Path(f"/proc/{answering}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def test_a_table_goes_in_and_is_described(john: httpx.Client) -> None:
    content = b"zip,age\n" + b"".join(b"%d,%d\n" % (81000 + row, row % 90) for row in range(5000))
    answer = upload(john, content)
    assert answer.status_code == 201, answer.text
    shown = john.get(answer.headers["location"].removeprefix("/api/v1")).json()
    assert (shown["rows"], shown["sha256"]) == (5000, hashlib.sha256(content).hexdigest())
    assert john.get(f"/datasets/{shown['dataset_id']}/proposal").json()["config"]["attributes"][0] == {
        "attribute_name": "zip",
        "attribute_type": "identifying",
    }


def test_uploads_at_the_same_time_do_not_mix(john: httpx.Client, server: Running) -> None:
    contents = [b"a\n" + bytes([97 + number]) * 500_000 + b"\n" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda content: upload(john, content).json(), contents))
    assert [answer["sha256"] for answer in answers] == [hashlib.sha256(content).hexdigest() for content in contents]


def test_nothing_in_the_folder_shows_a_value(john: httpx.Client, folder: Path) -> None:
    content = b"name,age\n" + b"".join(CANARY + b"%d,%d\n" % (row, row) for row in range(20_000))
    number = upload(john, content).json()["dataset_id"]
    hierarchy = "".join(f"{CANARY.decode()}{row};x;*\n" for row in range(20_000))
    stored = john.put(f"/datasets/{number}/hierarchies/name", content=hierarchy, headers={"Content-Type": "text/csv"})
    assert stored.status_code == 201, stored.text
    assert upload(john, content + b"broken,line,3\n").status_code == 400
    waiting = upload(john, content, Prefer="respond-async")
    assert waiting.status_code == 202
    files = [path for path in folder.parent.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert [path for path in files if CANARY in path.read_bytes()] == []


def test_a_client_that_does_not_wait_finds_the_dataset_later(john: httpx.Client) -> None:
    answer = upload(john, b"a\n1\n", Prefer="respond-async")
    assert answer.status_code == 202
    number = answer.json()["dataset_id"]
    assert answer.headers["location"] == f"/api/v1/jobs/{answer.json()['job']['job_id']}"
    assert soon(lambda: john.get(f"/datasets/{number}").json()["state"] == "ready")


@pytest.mark.parametrize(
    ("content", "file_name", "code"),
    [
        (b"a,b\n1,2\n3\n", "a.csv", "csv-ragged"),
        (b"", "a.csv", "csv-empty"),
        (b"\x1f\x8b\x08" + bytes(1000), "a.csv", "file-format"),
        (b"PK\x03\x04" + bytes(1000), "a.xlsx", "file-format"),
        (b"PAR1" + bytes(1000) + b"PAR1", "a.parquet", "parquet-damaged"),
    ],
)
def test_a_file_that_is_no_table_is_refused_and_leaves_nothing(
    john: httpx.Client, folder: Path, content: bytes, file_name: str, code: str
) -> None:
    before, total = locked(folder), john.get("/datasets").json()["total"]
    answer = upload(john, content, file_name)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert john.get("/datasets").json()["total"] == total
    assert locked(folder) <= before


def test_a_client_that_hangs_up_in_the_middle_leaves_nothing(john: httpx.Client, server: Running, folder: Path) -> None:
    before, total = locked(folder), john.get("/datasets").json()["total"]
    address = urlsplit(server.url)
    head = (
        "POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=xyz\r\n"
        f"Authorization: {john.headers['authorization']}\r\nContent-Length: 50000000\r\n\r\n"
        '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    )
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + b"a\n" + b"1\n" * 2_000_000)
        assert soon(lambda: len(locked(folder)) > len(before))
    assert soon(lambda: locked(folder) == before)
    assert john.get("/datasets").json()["total"] == total


def test_a_file_beyond_the_limit_is_refused_while_it_arrives_and_needs_no_memory(
    john: httpx.Client, server: Running, folder: Path
) -> None:
    before = locked(folder)
    used = memory_of(server)

    def chunks() -> Iterator[bytes]:
        yield b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(300):
            yield b"1\n" * (1 << 19)
        yield b"\r\n--xyz--\r\n"

    answer = john.post("/datasets", content=chunks(), headers=TYPE)
    assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large")
    assert memory_of(server) - used < 64 << 20
    assert soon(lambda: locked(folder) == before)


@pytest.mark.slow
def test_a_body_that_says_it_is_too_large_is_not_waited_for(john: httpx.Client, server: Running) -> None:
    address = urlsplit(server.url)
    head = (
        "POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=xyz\r\n"
        f"Authorization: {john.headers['authorization']}\r\nContent-Length: {10 * LIMIT}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.slow
def test_a_large_file_within_the_limit_needs_little_memory(john: httpx.Client, server: Running) -> None:
    used = memory_of(server)

    def chunks() -> Iterator[bytes]:
        yield b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\n'
        for _ in range(90):
            yield (b"1" * 1023 + b"\n") * 1024
        yield b'\r\n--xyz\r\nContent-Disposition: form-data; name="json"\r\n\r\n'
        yield json.dumps(TEXTS).encode() + b"\r\n--xyz--\r\n"

    answer = john.post("/datasets", content=chunks(), headers=TYPE)
    assert answer.status_code == 202, answer.text  # too large to wait for
    number = answer.json()["dataset_id"]
    assert soon(lambda: john.get(f"/datasets/{number}").json()["state"] == "ready", 60)
    assert john.get(f"/datasets/{number}").json()["rows"] == 90 * 1024
    assert memory_of(server) - used < 64 << 20
