"""Calls of another house that go nowhere; calls that arrive are in tests/end_to_end/service/test_two_services.py."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kohorte.errors import AccessDenied, EngineError, KohorteError
from kohorte.parties.transport.certificates import create_certificate
from kohorte.trust.remote import OtherHouse, _content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    key, certificate = create_certificate("house")
    (tmp_path / "key.pem").write_bytes(key)
    (tmp_path / "certificate.pem").write_bytes(certificate)
    return tmp_path


def house(folder: Path, address: str, *, pinned: str = "certificate.pem", key: str = "key.pem") -> OtherHouse:
    return OtherHouse(address, folder / "certificate.pem", folder / key, folder / pinned, seconds=5)


def refusal(other: OtherHouse) -> str:
    with pytest.raises(KohorteError) as caught:
        other.pseudonyms("study", ["secret text"])
    assert "secret" not in caught.value.message
    return caught.value.code


def test_only_https_is_spoken_with_files_that_fit(folder: Path) -> None:
    for address in ("http://127.0.0.1:1", "127.0.0.1:1", "https://", "https://a:b", ""):
        assert refusal(house(folder, address)) == "trust-house-address"
    there = "https://127.0.0.1:1"
    other = create_certificate("other")[0]
    (folder / "other.pem").write_bytes(other)
    for options in ({"pinned": "missing.pem"}, {"pinned": "key.pem"}, {"key": "missing.pem"}, {"key": "other.pem"}):
        assert refusal(house(folder, there, **options)) == "trust-house-certificate"


def test_a_house_that_is_not_there_is_lost(folder: Path) -> None:
    with socket.socket() as bound:  # a port that is taken and does not listen
        bound.bind(("127.0.0.1", 0))
        assert refusal(house(folder, f"https://127.0.0.1:{bound.getsockname()[1]}")) == "trust-house-lost"


def test_an_answer_is_content_a_refusal_or_a_failure() -> None:
    assert _content(200, b'{"pid": "x"}') == {"pid": "x"}
    assert _content(204, b"") is None
    with pytest.raises(AccessDenied, match="403, not-allowed"):
        _content(403, b'{"code": "not-allowed", "detail": "secret"}')
    with pytest.raises(EngineError, match="503, no reason"):
        _content(503, b"<html>secret</html>")
    with pytest.raises(AccessDenied, match="400, no reason"):
        _content(400, b'{"code": "a text with blanks"}')
