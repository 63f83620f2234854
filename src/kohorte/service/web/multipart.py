"""Streaming uploads: the file is encrypted chunk by chunk, never whole in memory and never in plain text on disk."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from kohorte.errors import InputError
from kohorte.service.datasets.uploads import Upload, safe_file_name
from kohorte.service.vault import CHUNK, Content, LockedWriter, Vault
from kohorte.service.web.middleware.strict_json import why_refused

MOST_PARTS = 8
MOST_HEADERS = 8
LONGEST_HEADER = 4096
LARGEST_FIELD = 256 * 1024
FIELDS = ("name", "description", "separator", "encoding")
METADATA = ("json", "metadata")
METADATA_WITHOUT_FILE = (*METADATA, "data")
UNENCODED = (b"", b"binary", b"7bit", b"8bit")


@dataclass
class Part:
    """A part while it is read; `number` counts from 1."""

    number: int
    headers: dict[bytes, bytes] = field(default_factory=dict)
    target: str = ""
    content: bytearray = field(default_factory=bytearray)


class Form:
    """Collects the events of the parser: the bytes of the one file, fields, and a JSON object of fields."""

    def __init__(self, *, limit: int, also: Collection[str] = ()) -> None:
        self.limit = limit
        self.names = (*FIELDS, *also)
        self.file_name: str | None = None
        self.file_bytes = 0
        self.fields: dict[str, Any] = {}
        self.ended = False
        self.arrived = bytearray()
        self._part = Part(0)
        self._header = (bytearray(), bytearray())

    def callbacks(self) -> Any:
        """Return the callbacks of the parser."""
        return {
            "on_part_begin": self._begin,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_end": self._finish,
        }

    def taken(self) -> bytes:
        """Return the bytes of the file that have arrived since the last call."""
        data, self.arrived = bytes(self.arrived), bytearray()
        return data

    def _begin(self) -> None:
        self._part = Part(self._part.number + 1)
        if self._part.number > MOST_PARTS:
            raise InputError(f"the upload has more than {MOST_PARTS} parts", code="upload-part")

    def _header_end(self) -> None:
        name, value = (bytes(item) for item in self._header)
        self._header = (bytearray(), bytearray())
        self._part.headers[name.lower()] = value

    def _headers_finished(self) -> None:
        kind, options = parse_options_header(self._part.headers.get(b"content-disposition"))
        if kind != b"form-data" or b"name" not in options:
            raise self._wrong('needs the header Content-Disposition: form-data; name="..."')
        if self._part.headers.get(b"content-transfer-encoding", b"").lower() not in UNENCODED:
            raise self._wrong("has a Content-Transfer-Encoding; send its bytes unencoded")
        self._part.target = self._target(options)
        if self._part.target == "file":
            if self.file_name is not None:
                raise self._wrong("is a second file; an upload has one")
            self.file_name = safe_file_name(options[b"filename"].decode("utf-8", "replace"))

    def _target(self, options: Mapping[bytes, bytes]) -> str:
        """The purpose of a part: a part with a file name is the file, unless its type or name denotes metadata."""
        name = options[b"name"].decode("utf-8", "replace")
        is_file = b"filename" in options
        media_type, _ = parse_options_header(self._part.headers.get(b"content-type"))
        if media_type == b"application/json" or name in (METADATA if is_file else METADATA_WITHOUT_FILE):
            return "metadata"
        if is_file:
            return "file"
        if name in self.names:
            return name
        raise self._wrong("is not known; supported are one file, name, description, separator, encoding, and json")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._part.target == "file":
            self.file_bytes += end - start
            if self.file_bytes > self.limit:
                raise InputError(
                    f"the file is larger than {self.limit:,} bytes, the limit of this service", code="upload-too-large"
                )
            self.arrived += memoryview(data)[start:end]
            return
        self._part.content += memoryview(data)[start:end]
        if len(self._part.content) > LARGEST_FIELD:
            raise InputError(
                f"part {self._part.number}: has more than {LARGEST_FIELD:,} bytes; only the file may be large",
                code="upload-part-too-large",
            )

    def _end(self) -> None:
        if self._part.target == "file":
            return
        found = self._json() if self._part.target == "metadata" else {self._part.target: self._text()}
        for name, value in found.items():
            if name in self.fields:
                raise self._wrong(f"gives {name if name in self.names else 'a field'} a second time")
            self.fields[name] = value

    def _text(self) -> str:
        try:
            text = self._part.content.decode("utf-8")
        except UnicodeDecodeError:
            raise self._wrong("is not UTF-8") from None
        if "\0" in text:
            raise self._wrong("contains a null character")
        return text

    def _json(self) -> dict[str, Any]:
        text = self._text()
        if reason := why_refused(bytes(self._part.content)):
            raise self._wrong(reason)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise self._wrong("is not JSON") from None
        if not isinstance(found, dict):
            raise self._wrong('is not a JSON object such as {"name": "...", "description": "..."}')
        return found

    def _finish(self) -> None:
        self.ended = True

    def _wrong(self, reason: str) -> InputError:
        return InputError(f"part {self._part.number}: {reason}", code="upload-part")


async def received(
    request: Request, vault: Vault, *, limit: int, also: Collection[str] = ()
) -> tuple[Upload, dict[str, Any]]:
    """Read an upload: the encrypted file and the other fields. On any error nothing is left behind.

    `also` are names of fields beside those that describe the table.
    """
    form = Form(limit=limit, also=also)
    parser = _parser(request.headers, form)
    async with _locked(vault) as writer:
        async for chunk in request.stream():
            _feed(parser, chunk)
            if len(form.arrived) >= CHUNK:
                await run_in_threadpool(writer.write, form.taken())
        if not form.ended:
            raise _malformed("the last boundary is missing")
        if form.file_name is None:
            raise _missing("file")
        await run_in_threadpool(writer.write, form.taken())
    return Upload(writer.name, form.file_name, writer.bytes, writer.sha256), form.fields


async def received_text(request: Request, *, limit: int, also: Collection[str] = ()) -> tuple[str, dict[str, Any]]:
    """Read a small text file and the other fields of a form; the file stays in memory and never reaches the disk."""
    form = Form(limit=limit, also=also)
    parser = _parser(request.headers, form)
    async for chunk in request.stream():
        _feed(parser, chunk)
    if not form.ended:
        raise _malformed("the last boundary is missing")
    if form.file_name is None:
        raise _missing("file")
    try:
        return form.taken().decode("utf-8-sig"), form.fields
    except UnicodeDecodeError:
        raise InputError("the file is not UTF-8", code="upload-not-text") from None


@asynccontextmanager
async def _locked(vault: Vault) -> AsyncIterator[LockedWriter]:
    """A new encrypted file, named if the block succeeds; disk access runs in a thread."""
    writing = vault.writing(Content.UPLOAD)
    writer = await run_in_threadpool(writing.__enter__)
    try:
        yield writer
    except BaseException as error:
        writing.__exit__(type(error), error, error.__traceback__)
        raise
    await run_in_threadpool(writing.__exit__, None, None, None)


def _parser(headers: Mapping[str, str], form: Form) -> MultipartParser:
    kind, options = parse_options_header(headers.get("content-type"))
    if kind != b"multipart/form-data":
        raise InputError("send the file as multipart/form-data", code="upload-content-type")
    if not options.get(b"boundary"):
        raise _malformed("the header Content-Type has no boundary")
    try:
        return MultipartParser(
            options[b"boundary"],
            form.callbacks(),
            max_header_count=MOST_HEADERS,
            max_header_size=LONGEST_HEADER,
        )
    except FormParserError:
        raise _malformed("the boundary is too long") from None


def _feed(parser: MultipartParser, chunk: bytes) -> None:
    try:
        parser.write(chunk)
    except FormParserError:
        raise _malformed(f"boundaries or headers are not valid, or longer than {LONGEST_HEADER} bytes") from None


def _malformed(reason: str) -> InputError:
    return InputError(f"the body is not valid multipart/form-data: {reason}", code="upload-malformed")


def _missing(place: str) -> RequestValidationError:
    return RequestValidationError([{"type": "missing", "loc": ("body", place), "msg": "Field required"}])
