from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.kernels.csv_scan_reference import CsvScan, csv_scan
from support.examples import examples


def scan(text: str, separator: str = ",", fields: int = 0) -> CsvScan:
    return csv_scan(np.frombuffer(text.encode(), np.uint8), ord(separator), fields)


def lines_of(text: str) -> list[tuple[int, int, bool]] | int:  # noqa: C901
    """The obvious way: (line, fields, empty) per record, or the line of the field with broken quotes."""
    records = []
    at, line = 0, 1
    while at < len(text):
        starts, begins, fields = line, at, 1
        while True:
            field_line = line
            if text[at : at + 1] == '"':
                at += 1
                while True:
                    if at == len(text):
                        return field_line
                    if text[at : at + 2] == '""':
                        at += 2
                    elif text[at] == '"':
                        at += 1
                        break
                    else:
                        line += text[at] == "\n"
                        at += 1
                if not (at == len(text) or text[at] in ",\n" or text[at : at + 2] == "\r\n"):
                    return field_line
            else:
                while at < len(text) and text[at] not in ",\n":
                    if text[at] == '"':
                        return field_line
                    at += 1
            if text[at : at + 2] == "\r\n":
                at += 1
            if text[at : at + 1] != ",":
                break
            fields, at = fields + 1, at + 1
        ended = text[at : at + 1] == "\n"
        content = text[begins:at].removesuffix("\r") if ended else text[begins:at]
        records.append((starts, fields, content == ""))
        at, line = at + 1, line + 1
    return records


def obvious(text: str, fields: int) -> CsvScan:
    lines = lines_of(text)
    if isinstance(lines, int):
        return CsvScan(quote_error_line=lines)
    full = [number for number, (_, _, empty) in enumerate(lines) if not empty]
    if not full:
        return CsvScan(fields=fields, skipped_lines=len(lines))
    fields = fields or lines[full[0]][1]
    kept = lines[full[0] : full[-1] + 1] if fields == 1 else [lines[number] for number in full]
    bad = [number for number, (_, count, _) in enumerate(kept) if count != fields]
    return CsvScan(
        records=len(kept),
        fields=fields,
        first_bad_record=bad[0] + 1 if bad else 0,
        first_bad_line=kept[bad[0]][0] if bad else 0,
        first_bad_fields=kept[bad[0]][1] if bad else 0,
        bad_records=len(bad),
        skipped_lines=len(lines) - len(kept),
    )


@examples(1500)
@given(text=st.text(alphabet='a,;"\r\n', max_size=30), fields=st.integers(0, 3))
def test_the_scan_agrees_with_the_obvious_way_on_any_text(text: str, fields: int) -> None:
    assert scan(text, fields=fields) == obvious(text, fields)


@examples(1000)
@given(pieces=st.lists(st.sampled_from(["x", "", '"x"', '"a,\n""b"', ",", "\n", "\r\n", '""', "ä"]), max_size=20))
def test_the_scan_agrees_with_the_obvious_way_on_nearly_sound_files(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert scan(text) == obvious(text, 0)


def test_records_and_fields_are_counted() -> None:
    assert scan("a,b\n1,2\n3,4") == CsvScan(records=3, fields=2)


def test_a_quoted_field_may_hold_separators_and_line_ends() -> None:
    assert scan('a,b\n"1,\r\n""2""",3\n') == CsvScan(records=2, fields=2)


def test_the_first_ragged_record_is_found_on_its_physical_line() -> None:
    found = scan('a,b\n"x\ny",1\n\n1,2,3\n4\n')
    assert found == CsvScan(4, 2, 3, 5, 3, 2, 0, 1)


def test_an_empty_line_is_missing_in_one_column_and_skipped_in_others() -> None:
    assert scan("a\n1\n\n2\n\n\n") == CsvScan(records=4, fields=1, skipped_lines=2)
    assert scan("a,b\r\n\r\n1,2\r\n\r\n") == CsvScan(records=2, fields=2, skipped_lines=2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a\nx"y\n', 2),
        ('a\n"x"y\n', 2),
        ('a\n"x\n\n', 2),
        ('a\n\n"x\n\n"y"\n', 3),
        ('"', 1),
        ('"""', 1),
        ('a\n"x"\r', 2),
    ],
)
def test_broken_quotes_are_found_where_the_field_starts(text: str, line: int) -> None:
    assert scan(text) == CsvScan(quote_error_line=line)


def test_no_bytes_are_no_records() -> None:
    assert scan("") == CsvScan()
