"""What arrives: good files, bad files, and bodies that are none."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from starlette.requests import ClientDisconnect, Request

from kohorte.errors import InputError
from kohorte.service.context import Service
from kohorte.service.datasets.uploads import safe_file_name
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import datasets, jobs
from kohorte.service.vault import Content, Vault
from kohorte.service.web.multipart import received
from support.service import Person, client_of, new_person, new_service, on_sqlite

from .conftest import PATIENTS, TEXTS, Steward, UploadService

CANARY = b"Zaphod-Beeblebrox"


def files_of(service: Service) -> list[Path]:
    return [path for path in service.settings.vault_folder.rglob("*") if path.is_file()]


def nothing_is_left(service: Service) -> bool:
    with service.database.reading() as connection:
        rows = connection.execute(select(datasets.c.id).where(datasets.c.deleted_at.is_(None))).all()
    return not rows and not files_of(service)


def body(*parts: tuple[str, bytes], boundary: str = "xyz") -> bytes:
    """A body of parts, each with its headers and content."""
    written = b"".join(
        b"--" + boundary.encode() + b"\r\n" + headers.encode() + b"\r\n\r\n" + content + b"\r\n"
        for headers, content in parts
    )
    return written + b"--" + boundary.encode() + b"--\r\n"


FILE = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
JSON = 'Content-Disposition: form-data; name="json"'
META = json.dumps(TEXTS).encode()
TYPE = {"Content-Type": "multipart/form-data; boundary=xyz"}


# Good uploads


@on_sqlite
def test_a_file_of_another_encoding_and_separator_is_read_as_it_says(mary: Steward) -> None:
    answer = mary.client.post(
        "/api/v1/datasets",
        files={"file": ("a.csv", "name|größe\nJörg|3\n".encode("cp1252"), "text/csv")},
        data={**TEXTS, "separator": "|", "encoding": "cp1252"},
        headers=mary.headers,
    )
    assert answer.status_code == 201, answer.text
    assert [column["name"] for column in answer.json()["columns"]] == ["name", "größe"]
    unknown = mary.client.post(
        "/api/v1/datasets",
        files={"file": ("a.csv", b"a,b\n1,2\n", "text/csv")},
        data={**TEXTS, "encoding": "klingon"},
        headers=mary.headers,
    )
    assert (unknown.status_code, unknown.json()["code"]) == (400, "csv-encoding-unknown")


def test_an_upload_is_answered_as_in_the_appendix_and_more(mary: Steward, service: Service) -> None:
    answer = mary.upload()
    assert answer.status_code == 201
    shown = answer.json()
    assert answer.headers["location"] == f"/api/v1/datasets/{shown['dataset_id']}"
    assert {key: shown[key] for key in TEXTS} == TEXTS
    assert set(shown["creator"]) >= {"email_address", "institution", "name", "privileged_status", "user_id"}
    assert shown["created_at"].endswith("+00:00")
    assert (shown["state"], shown["rows"], shown["bytes"]) == ("ready", 4, len(PATIENTS))
    assert [column["name"] for column in shown["columns"]] == ["zip_code", "age", "disease"]
    assert [column["distinct"] for column in shown["columns"]] == [2, 3, 2]
    assert shown["sha256"] == hashlib.sha256(PATIENTS).hexdigest()
    assert mary.get(f"/datasets/{shown['dataset_id']}").json() == shown
    assert len(files_of(service)) == 1


@pytest.mark.parametrize(
    "parts",
    [
        [(FILE, PATIENTS), (JSON, META)],
        [(JSON, META), (FILE, PATIENTS)],
        [(FILE, PATIENTS), ('Content-Disposition: form-data; name="metadata"', META)],
        [(FILE, PATIENTS), ('Content-Disposition: form-data; name="data"', META)],
        [(FILE, PATIENTS), ('Content-Disposition: form-data; name="x"\r\nContent-Type: application/json', META)],
        [
            (FILE, PATIENTS),
            ('Content-Disposition: form-data; name="x"; filename="m.json"\r\nContent-Type: application/json', META),
        ],
        [(FILE.replace('name="file"', 'name="data"'), PATIENTS), (JSON, META)],
        [
            (FILE, PATIENTS),
            ('Content-Disposition: form-data; name="name"', TEXTS["name"].encode()),
            ('Content-Disposition: form-data; name="description"', TEXTS["description"].encode()),
        ],
    ],
)
def test_metadata_may_be_json_or_fields_in_any_order(uploads: UploadService, parts: list[tuple[str, bytes]]) -> None:
    answer = uploads.steward.post("/datasets", content=body(*parts), headers=TYPE)
    assert answer.status_code == 201, answer.text
    assert {key: answer.json()[key] for key in TEXTS} == TEXTS
    assert answer.json()["rows"] == 4
    assert uploads.steward.delete(f"/datasets/{answer.json()['dataset_id']}").status_code == 204


@pytest.mark.parametrize(
    ("content", "rows", "columns"),
    [
        (b"\xef\xbb\xbfname;age\r\nJ\xc3\xb6rg;3\r\n", 1, ["name", "age"]),
        (b"only\n1\n2\n", 2, ["only"]),
        (b"a\tb\n1\t2\n", 1, ["a", "b"]),
        (b'a,b\n"x\r\n--xyz","2"\n', 1, ["a", "b"]),
    ],
)
def test_every_layout_of_csv_is_read(uploads: UploadService, content: bytes, rows: int, columns: list[str]) -> None:
    shown = uploads.steward.upload(content).json()
    uploads.steward.delete(f"/datasets/{shown['dataset_id']}")
    assert (shown["rows"], [column["name"] for column in shown["columns"]]) == (rows, columns)


@on_sqlite
def test_a_parquet_file_is_read_whatever_it_is_called(mary: Steward) -> None:
    written = io.BytesIO()
    pl.DataFrame({"age": [1, 2], "sex": ["f", None]}).write_parquet(written)
    shown = mary.upload(written.getvalue(), "table.bin").json()
    assert [(column["name"], column["datatype"]) for column in shown["columns"]] == [("age", "int"), ("sex", "str")]


def test_a_client_that_does_not_wait_gets_the_job(john: Steward) -> None:
    files = {"file": ("a.csv", PATIENTS)}
    answer = john.post("/datasets", files=files, data=TEXTS, headers={"Prefer": "respond-async, wait=5"})
    assert answer.status_code == 202
    assert answer.json()["job"]["kind"] == "ingest"
    assert answer.json()["state"] == "preparing"
    assert answer.headers["location"] == f"/api/v1/jobs/{answer.json()['job']['job_id']}"


def test_two_uploads_at_once_do_not_mix(mary: Steward) -> None:
    from concurrent.futures import ThreadPoolExecutor

    contents = [b"a\n" + str(number).encode() * 50_000 + b"\n" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda content: mary.upload(content).json(), contents))
    assert [answer["sha256"] for answer in answers] == [hashlib.sha256(content).hexdigest() for content in contents]
    assert len({answer["dataset_id"] for answer in answers}) == 4


def test_no_file_of_the_service_shows_a_value(mary: Steward, service: Service) -> None:
    mary.uploaded(b"name\n" + CANARY + b"\n" + b"x" * 3_000_000 + b"\n", description="about it")
    mary.upload(b"name,b\n" + CANARY + b"\n")
    everything = [path for path in service.settings.folder.rglob("*") if path.is_file()]
    assert everything
    assert not [path for path in everything if CANARY in path.read_bytes()]


# Bad files: they never get as far as a database, so one will do


def bomb(kind: str) -> bytes:
    written = io.BytesIO()
    if kind == "gzip":
        return gzip.compress(b"a\n" + b"1\n" * 10_000_000)
    if kind == "zip":
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", b"1\n" * 10_000_000)
    return written.getvalue()


@pytest.mark.parametrize(
    ("content", "file_name", "code"),
    [
        (b"a,b\n1,2\n3\n", "a.csv", "csv-ragged"),
        (b'a,b\n"Zoe,2\n', "a.csv", "csv-quotes"),
        (b"", "a.csv", "csv-empty"),
        (b"\n \n", "a.csv", "csv-empty"),
        (b"a,b\n", "a.csv", "table-no-rows"),
        ("name;größe\nJörg;3\n".encode("latin-1"), "a.csv", "csv-not-utf-8"),
        (b"a,a\n1,2\n", "a.csv", "table-duplicate-columns"),
        (bomb("gzip"), "a.csv", "file-format"),
        (bomb("zip"), "a.csv", "file-format"),
        (bomb("zip"), "a.xlsx", "file-format"),
        (b"Zoe", "a.xlsx", "file-format"),
        (b"Zoe", "a.parquet", "parquet-damaged"),
        (b"PAR1\x15\x00Zoe PAR1", "a.csv", "parquet-damaged"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_reason_and_leaves_nothing(
    uploads: UploadService, content: bytes, file_name: str, code: str
) -> None:
    answer = uploads.steward.upload(content, file_name)
    assert answer.status_code == 400
    assert "Zoe" not in answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == code
    assert uploads.steward.get("/datasets").json()["datasets"] == []
    assert nothing_is_left(uploads.service)


def test_a_broken_file_is_refused_with_its_line_on_both_databases(mary: Steward, service: Service) -> None:
    answer = mary.upload(b"a,b\n1,2\n3\n")
    assert answer.status_code == 400
    assert "line 3" in answer.json()["detail"]
    assert mary.get("/datasets").json()["total"] == 0
    assert nothing_is_left(service)


def parquet_bomb(rows: int) -> bytes:
    """A few bytes that are read as many rows: a hundred row groups that are all the same one."""
    import pyarrow as pa

    return a_hundred_times(pa.table({"a": pa.repeat(pa.scalar(True), rows // 100)}))


def a_hundred_times(table: Any, **options: Any) -> bytes:
    """A Parquet file with a hundred row groups that are all the same one."""
    import pyarrow.parquet as pq

    once, footer = io.BytesIO(), io.BytesIO()
    layout = {"row_group_size": table.num_rows, "compression": "zstd", "data_page_size": 1 << 30}
    pq.write_table(table, once, **layout, **options)
    first = once.getvalue()
    facts, group = pq.read_metadata(once), pq.read_metadata(once)
    for _ in range(99):
        facts.append_row_groups(group)
    facts.write_metadata_file(footer)
    end = len(first) - 8 - int.from_bytes(first[-8:-4], "little")
    return first[:end] + footer.getvalue()[len(b"PAR1") :]


def test_a_small_parquet_file_of_a_thousand_million_rows_is_refused(uploads: UploadService) -> None:
    content = parquet_bomb(1_000_000_000)
    assert len(content) < 100_000
    before = resident()
    answer = uploads.steward.upload(content, "a.parquet")
    assert (answer.status_code, answer.json()["code"]) == (413, "table-too-large")
    assert resident() - before < 200 << 20
    assert nothing_is_left(uploads.service)


@pytest.mark.parametrize("in_dictionary", [True, False])
def test_a_small_parquet_file_of_too_many_bytes_is_refused(uploads: UploadService, in_dictionary: bool) -> None:
    import pyarrow as pa

    if in_dictionary:  # one text that all rows refer to: 6 GB
        codes = pa.array([0] * 60, pa.int32())
        content = a_hundred_times(pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000]))}))
    else:  # pages of equal texts: 5 GB
        content = a_hundred_times(pa.table({"a": ["x" * 1_000_000] * 50}), use_dictionary=False)
    assert len(content) < 1_000_000
    before = resident()
    answer = uploads.steward.upload(content, "a.parquet")
    assert (answer.status_code, answer.json()["code"]) == (413, "table-too-large")
    assert "when it is unpacked" in answer.json()["detail"]
    assert resident() - before < 400 << 20
    assert nothing_is_left(uploads.service)


def test_the_bomb_is_a_table_where_it_is_small(uploads: UploadService) -> None:
    shown = uploads.steward.upload(parquet_bomb(1000), "a.parquet").json()
    assert shown["rows"] == 1000
    assert uploads.steward.delete(f"/datasets/{shown['dataset_id']}").status_code == 204


def resident() -> int:
    """The memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


# Bodies that are no upload


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ([(JSON, META)], "file"),
        ([(FILE, PATIENTS)], "name"),
        ([(FILE, PATIENTS), (FILE, PATIENTS), (JSON, META)], "part 2"),
        ([(FILE, PATIENTS), (JSON, META), (JSON, META)], "part 3"),
        ([(FILE, PATIENTS), (JSON, META), ('Content-Disposition: form-data; name="name"', b"x")], "part 3"),
        ([(FILE, PATIENTS), (JSON, META), ('Content-Disposition: form-data; name="Zoe"', b"x")], "part 3"),
        ([(FILE, PATIENTS), (JSON, b"{Zoe")], "part 2"),
        ([(FILE, PATIENTS), (JSON, b'["Zoe"]')], "part 2"),
        ([(FILE, PATIENTS), (JSON, b"[" * 100_000)], "part 2"),
        ([(FILE, PATIENTS), (JSON, b'{"name": ' + b"9" * 5000 + b"}")], "part 2"),
        ([(FILE, PATIENTS), (JSON, b'{"name": "Zoe\\u0000"}')], "part 2"),
        ([(FILE, PATIENTS), (JSON, b'{"name": "Zoe\\ud800"}')], "part 2"),
        ([(FILE, PATIENTS), (JSON, b'{"name": "Zo\xff"}')], "part 2"),
        ([(FILE, PATIENTS), ('Content-Disposition: form-data; name="name"', b"Zo\x00e")], "part 2"),
        ([(FILE, PATIENTS), (JSON, b'{"name": "a", "name": "Zoe"}')], "part 2: line 1, column 15"),
        ([(FILE, PATIENTS), (JSON, b'{"name": 5}')], "body.name"),
        ([(FILE, PATIENTS), (JSON, b'{"name": " "}')], "body.name"),
        ([(FILE, PATIENTS), (JSON, json.dumps({"name": "x" * 201}).encode())], "body.name"),
        ([(FILE, PATIENTS), (JSON, json.dumps({"name": "x", "description": "x" * 10_001}).encode())], "description"),
        ([(FILE, PATIENTS), (JSON, b'{"name": "x", "owner": "Zoe"}')], "body.owner"),
        ([('Content-Disposition: form-data; filename="a.csv"', PATIENTS), (JSON, META)], "part 1"),
        ([('Content-Disposition: attachment; name="file"; filename="a.csv"', PATIENTS), (JSON, META)], "part 1"),
        ([("X-Nothing: 1", PATIENTS), (JSON, META)], "part 1"),
        ([(f"{FILE}\r\nContent-Transfer-Encoding: base64", PATIENTS), (JSON, META)], "part 1"),
    ],
)
def test_parts_that_are_wrong_are_refused_with_their_place_and_nothing_is_stored(
    uploads: UploadService, parts: list[tuple[str, bytes]], place: str
) -> None:
    answer = uploads.steward.post("/datasets", content=body(*parts), headers=TYPE)
    assert answer.status_code == 400
    assert place in json.dumps({key: answer.json().get(key) for key in ("detail", "errors")})
    assert "Zoe" not in answer.text
    assert nothing_is_left(uploads.service)


@pytest.mark.parametrize(
    ("content", "content_type", "status", "code"),
    [
        (META, "application/json", 415, "upload-content-type"),
        (PATIENTS, "text/csv", 415, "upload-content-type"),
        (PATIENTS, "multipart/mixed; boundary=xyz", 415, "upload-content-type"),
        (PATIENTS, "multipart/form-data", 400, "upload-malformed"),
        (PATIENTS, "multipart/form-data; boundary=", 400, "upload-malformed"),
        (PATIENTS, f"multipart/form-data; boundary={'x' * 5000}", 400, "upload-malformed"),
        (PATIENTS, "multipart/form-data; boundary=xyz", 400, "upload-malformed"),
        (b"", "multipart/form-data; boundary=xyz", 400, "upload-malformed"),
        (body((FILE, PATIENTS), (JSON, META))[:-9], "multipart/form-data; boundary=xyz", 400, "upload-malformed"),
        (
            body((FILE + "\r\nX-Long: " + "x" * 10_000, PATIENTS), (JSON, META)),
            "multipart/form-data; boundary=xyz",
            400,
            "upload-malformed",
        ),
        (
            body((FILE + "".join(f"\r\nX-{n}: 1" for n in range(100)), PATIENTS), (JSON, META)),
            "multipart/form-data; boundary=xyz",
            400,
            "upload-malformed",
        ),
        (body((FILE, PATIENTS), *[(JSON, b"{}")] * 5000), "multipart/form-data; boundary=xyz", 400, "upload-part"),
        (
            body((FILE, PATIENTS), (JSON, b" " * 300_000)),
            "multipart/form-data; boundary=xyz",
            413,
            "upload-part-too-large",
        ),
    ],
)
def test_a_body_that_is_no_upload_is_refused(
    uploads: UploadService, content: bytes, content_type: str, status: int, code: str
) -> None:
    answer = uploads.steward.post("/datasets", content=content, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert nothing_is_left(uploads.service)


def test_only_stewards_upload(client: TestClient, researcher: Person, service: Service) -> None:
    answer = client.post(
        "/api/v1/datasets", files={"file": ("a.csv", PATIENTS)}, data=TEXTS, headers=researcher.headers
    )
    assert answer.status_code == 403
    assert client.post("/api/v1/datasets", files={"file": ("a.csv", PATIENTS)}, data=TEXTS).status_code == 401
    assert nothing_is_left(service)


def test_a_file_beyond_the_limit_is_refused_as_soon_as_it_is(tmp_path: Path) -> None:
    with new_service(Settings.load(tmp_path / "service", {}, upload_limit=100_000)) as service:
        with client_of(service) as client:
            steward = Steward(client, new_person(service, client, privileged=True).headers)
            answer = steward.upload(b"a\n" + b"1\n" * 50_000)
            assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large")
            assert steward.upload(b"a\n" + b"1\n" * 2_000_000).status_code == 413
            sent = 0

            def endless() -> Iterator[bytes]:
                nonlocal sent
                yield body((FILE, b""))[:-11]
                while True:
                    sent += 10_000
                    yield b"1\n" * 5_000

            assert steward.post("/datasets", content=_some(endless(), 500), headers=TYPE).status_code == 413
        assert nothing_is_left(service)


def _some(chunks: Iterator[bytes], count: int) -> Iterator[bytes]:
    return (chunk for _, chunk in zip(range(count), chunks, strict=False))


# The stream itself


def request_of(chunks: list[bytes], *, ends: bool = True) -> Request:
    async def receive() -> dict[str, Any]:
        if chunks:
            return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks) or not ends}
        return {"type": "http.disconnect"}

    return Request({"type": "http", "headers": [(b"content-type", TYPE["Content-Type"].encode())]}, receive)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "files", b"k" * 32)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
def test_the_borders_of_chunks_make_no_difference(vault: Vault, size: int) -> None:
    content = b"a,b\r\n--xy\r\n--xyz,\r\n\r\n1\r\n--x\r\n"
    whole = body((FILE, content), (JSON, META))
    chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
    upload, fields = asyncio.run(received(request_of(chunks), vault, limit=1000))
    assert vault.read(upload.file, Content.UPLOAD) == content
    assert (upload.file_name, upload.bytes, fields) == ("a.csv", len(content), TEXTS)
    assert upload.sha256 == hashlib.sha256(content).hexdigest()


def test_a_client_that_hangs_up_leaves_nothing(vault: Vault) -> None:
    start = body((FILE, b"a\n" + b"1\n" * 2_000_000))[:-11]
    with pytest.raises(ClientDisconnect):
        asyncio.run(received(request_of([start], ends=False), vault, limit=1 << 30))
    assert list(vault.folder.iterdir()) == []


def test_a_request_that_is_cancelled_leaves_nothing(vault: Vault) -> None:
    async def cancelled() -> None:
        async def receive() -> dict[str, Any]:
            await asyncio.sleep(60)
            return {}

        request = Request({"type": "http", "headers": [(b"content-type", TYPE["Content-Type"].encode())]}, receive)
        task = asyncio.create_task(received(request, vault, limit=1000))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert list(vault.folder.iterdir()) == []


def test_a_large_file_is_never_whole_in_memory(vault: Vault) -> None:
    import tracemalloc

    async def stream(chunks: AsyncIterator[bytes]) -> dict[str, Any]:
        return {"type": "http.request", "body": await anext(chunks), "more_body": True}

    async def upload() -> int:
        async def chunks() -> AsyncIterator[bytes]:
            yield body((FILE, b""))[:-11]
            for _ in range(1000):
                yield b"x" * 65_536
            yield b"\r\n--xyz--\r\n"

        arriving = chunks()
        counted = 0

        async def receive() -> dict[str, Any]:
            nonlocal counted
            counted += 1
            message = await stream(arriving)
            return message | {"more_body": counted < 1002}

        request = Request({"type": "http", "headers": [(b"content-type", TYPE["Content-Type"].encode())]}, receive)
        found, _ = await received(request, vault, limit=1 << 30)
        return found.bytes

    tracemalloc.start()
    assert asyncio.run(upload()) == 65_536_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_database_that_fails_leaves_no_file(john: Steward, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> int:
        raise InputError("no", code="service-conflict")

    monkeypatch.setattr("kohorte.service.datasets.records.enqueue", fail)
    assert john.upload().status_code == 409
    assert nothing_is_left(service)
    with service.database.reading() as connection:
        assert connection.execute(select(jobs)).all() == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.csv", "a.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\a.csv", "a.csv"),
        ("", "table"),
        ("..", "table"),
        ("x/..", "table"),
        ("\0\n", "table"),
        ("Größe 1.csv", "Größe 1.csv"),
        ("a\u202eb.csv", "ab.csv"),
        ("x" * 300 + ".csv", "x" * 251 + ".csv"),
        ("." + "x" * 300, "." + "x" * 254),
    ],
)
def test_a_file_name_is_a_name_and_nothing_else(given: str, kept: str) -> None:
    assert safe_file_name(given) == kept
