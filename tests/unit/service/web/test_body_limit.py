"""How much of a body is read, from whom."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message

from kohorte.service.accounts.tokens import Type
from kohorte.service.context import Service
from support.service import Person, on_sqlite

from .conftest import Open, signed

LIMIT = 200_000
MULTIPART = "multipart/form-data; boundary=xyz"
FILE = b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
JSON = {"Content-Type": "application/json"}
NOBODYS = ("Bearer nonsense", "Bearer ", "Bearer a.b.c", "Basic eDp5", "nonsense")


def in_parts(size: int) -> Iterator[bytes]:
    for _ in range(0, size, 10_000):
        yield b" " * 10_000


def streamed(client: TestClient, path: str, headers: dict[str, str], beginning: bytes = b"") -> tuple[int, int]:
    """Post 4 MB as a server passes them on, part by part; return the status, and how many bytes were taken."""
    parts = filter(None, [beginning, *in_parts(4_000_000)])
    taken, status = 0, 0

    async def receive() -> Message:
        nonlocal taken
        part = next(parts, b"")
        taken += len(part)
        return {"type": "http.request", "body": part, "more_body": bool(part)}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    written = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "scheme": "http", "method": "POST", "path": path, "query_string": b""}
    asyncio.run(client.app({**scope, "headers": written, "client": ("127.0.0.1", 1)}, receive, send))
    return status, taken


def test_a_body_that_says_that_it_is_too_large_is_refused(open_client: Open) -> None:
    client = open_client(body_limit=LIMIT)
    assert client.post("/body", content=b" " * (LIMIT + 1), headers=signed(client)).status_code == 413
    assert client.post("/body", content=b" " * LIMIT, headers=signed(client)).status_code == 400


def test_a_body_that_does_not_say_its_size_is_counted(open_client: Open) -> None:
    client = open_client(body_limit=LIMIT)
    refused = client.post("/body", content=in_parts(LIMIT + 10_000), headers=signed(client))
    assert (refused.status_code, refused.json()["code"]) == (413, "body-too-large")
    assert client.post("/body", content=in_parts(LIMIT), headers=signed(client)).status_code == 400


@pytest.mark.parametrize("authorization", [None, *NOBODYS])
@pytest.mark.parametrize("path", ["/api/v1/datasets", "/api/v1/datasets/1/analyze-risk"])
def test_a_stranger_cannot_make_the_server_read_much(plain: TestClient, path: str, authorization: str | None) -> None:
    headers = JSON if authorization is None else {**JSON, "Authorization": authorization}
    refused = plain.post(path, content=b" " * 100_000, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (401, "not-signed-in")
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    status, taken = streamed(plain, path, headers)
    assert status == 401
    assert taken <= 70_000


@pytest.mark.parametrize("options", [{"minutes": -1}, {"kind": Type.REFRESH}])
def test_a_token_that_is_over_or_for_something_else_is_a_strangers(
    plain: TestClient, options: dict[str, object]
) -> None:
    status, taken = streamed(plain, "/api/v1/projects", signed(plain, **options))
    assert status == 401
    assert taken <= 70_000


def test_the_token_of_another_service_is_a_strangers(
    open_client: Open, plain: TestClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    headers = signed(plain)
    key = tmp_path_factory.mktemp("other") / "key"
    other = open_client(folder="other", key_file=key, database=f"sqlite:///{key.with_name('other.db')}")
    assert other.post("/api/v1/projects", content=b" " * 100_000, headers=headers).status_code == 401
    assert plain.post("/body", content=b" " * 100_000, headers=headers).status_code == 400


@pytest.mark.parametrize("path", ["/api/v1/login", "/api/v1/refresh", "/api/v1/setup"])
def test_signing_in_with_a_large_body_is_refused_for_its_size(plain: TestClient, path: str) -> None:
    assert plain.post(path, content=b" " * 100_000, headers=JSON).status_code == 413
    assert plain.post(path, content=b" " * 100_000, headers=signed(plain)).status_code == 413
    assert plain.post(path, content=in_parts(100_000), headers=signed(plain)).status_code == 413


def test_only_an_upload_in_parts_may_be_larger(open_client: Open) -> None:
    client = open_client(body_limit=LIMIT, upload_limit=10 * LIMIT)
    in_json, in_multipart = signed(client), {**signed(client), "Content-Type": MULTIPART}
    for path, headers in (
        ("/api/v1/datasets", in_json),
        ("/api/v1/projects", in_json),
        ("/api/v1/projects", in_multipart),
        ("/api/v1/datasets/", in_multipart),
    ):
        assert client.post(path, content=b" " * (2 * LIMIT), headers=headers).status_code == 413, path
        assert streamed(client, path, headers)[1] <= LIMIT + 10_000, path
    large = client.post("/api/v1/datasets", content=b" " * (2 * LIMIT), headers=in_multipart)
    assert large.status_code == 401  # of nobody that is there: found out by the route, before it reads


@on_sqlite
@pytest.mark.parametrize("who", ["stranger", "nonsense", "researcher"])
def test_an_upload_is_refused_before_it_is_read_and_leaves_no_file(
    client: TestClient, service: Service, researcher: Person, who: str
) -> None:
    headers = {"stranger": {}, "nonsense": {"Authorization": "Bearer nonsense"}, "researcher": researcher.headers}[who]
    status, taken = streamed(client, "/api/v1/datasets", {**headers, "Content-Type": MULTIPART}, FILE)
    assert status == (403 if who == "researcher" else 401)
    assert taken == 0
    assert list(service.settings.vault_folder.iterdir()) == []


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "zstd"])
def test_a_compressed_body_is_not_read(plain: TestClient, encoding: str) -> None:
    answer = plain.post("/body", json={"number": 1}, headers={"Content-Encoding": encoding})
    assert (answer.status_code, answer.json()["code"]) == (415, "body-content-encoding")
    assert plain.post("/body", json={"number": 1}, headers={"Content-Encoding": "identity"}).status_code == 200


def test_a_size_that_is_no_number_does_not_help(plain: TestClient) -> None:
    answer = plain.post("/body", content=b"{}", headers={"Content-Length": "many", "Content-Type": "application/json"})
    assert answer.status_code == 400
