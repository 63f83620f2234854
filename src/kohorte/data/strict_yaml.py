"""Read YAML strictly: no duplicate keys, no references, and `no` and `0123` are text.

References (`*name`) are refused because a few lines of them can expand to billions of values.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

from kohorte.errors import InputError

_TYPES = {  # the core types of YAML 1.2, and numbers without leading zeros
    "tag:yaml.org,2002:bool": (re.compile(r"^(?:true|false)$"), "tf"),
    "tag:yaml.org,2002:int": (re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), "-+0123456789"),
    "tag:yaml.org,2002:float": (
        re.compile(r"^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"),
        "-+0123456789",
    ),
    "tag:yaml.org,2002:null": (re.compile(r"^(?:~|null|)$"), ["~", "n", ""]),
}

_SIMPLE = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_.%/-]{0,58}[A-Za-z0-9_%/])?")
"""Short texts that need no quotes in YAML; `true`, `false` and `null` do."""
_QUOTED = re.compile(r"%[A-Za-z0-9_.%/-]{0,58}")
"""Formats of dates such as %d.%m.%Y, which PyYAML puts between single quotes."""


class _Refused(yaml.YAMLError):
    """YAML that is valid, but not supported here."""


class _DuplicateKey(_Refused):
    """A duplicate key in a mapping."""


class _TextLoader(yaml.BaseLoader):
    """Loads mappings, lists and text only."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise _Refused("references (*name) are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            key.tag = "tag:yaml.org,2002:str"  # a column may be called 1, no or null
            name = str(key.value)
            if name in seen:  # the key itself is not shown: in a tree it is a value of the data
                raise _DuplicateKey(f"line {key.start_mark.line + 1}: this key occurs twice in one mapping")
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


class _Loader(_TextLoader, yaml.SafeLoader):
    """Also loads numbers, booleans and null."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as PyYAML has it


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as PyYAML has it

    def ignore_aliases(self, data: object) -> bool:
        del data
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Quote and escape what is not printable: PyYAML would fold rare line ends such as U+0085 into spaces."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _text)

for _tag, (_pattern, _first) in _TYPES.items():
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_tag, _pattern, list(_first))


def load(text: str, *, source: str, code: str) -> object:
    """Load a YAML text; errors have the given code, and `source` names the text in them."""
    found = _load(text, _Loader, source, code=code, duplicate_key_code=code, too_deep_code=code)
    if found is None:
        raise InputError(f"{source}: the file is empty, or contains only comments", code=code)
    return found


def load_text(text: str, *, source: str, code: str, duplicate_key_code: str, too_deep_code: str) -> object:
    """Load a YAML text with every value as text; None if it is empty."""
    codes = {"code": code, "duplicate_key_code": duplicate_key_code, "too_deep_code": too_deep_code}
    return _load(text, _TextLoader, source, **codes)


def _load(
    text: str, loader: type[_TextLoader], source: str, *, code: str, duplicate_key_code: str, too_deep_code: str
) -> object:
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a BaseLoader or a SafeLoader, stricter still
    except _DuplicateKey as error:
        raise InputError(f"{source}: {error}", code=duplicate_key_code) from None
    except _Refused as error:
        raise InputError(f"{source}: {error}", code=code) from None
    except RecursionError:
        raise InputError(f"{source}: not valid YAML: nested too deeply", code=too_deep_code) from None
    except (yaml.YAMLError, ValueError, LookupError, TypeError) as error:  # !!int x, !!bool x
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{source}: not valid YAML{where}", code=code) from None


def dump(data: object) -> str:
    """Return a YAML text that `load` reads back as the same.

    PyYAML writes what needs quotes or several lines, and the rest is written here as PyYAML would write it: the plan of
    a wide table has tens of thousands of short names, for which PyYAML needs seconds.
    """
    if not _is_collection(data):
        return _dumped(data)
    lines: list[str] = []
    _write(data, 0, lines)
    return "\n".join(lines) + "\n"


def _dumped(data: object) -> str:
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _is_collection(data: object) -> bool:
    """Whether something has lines of its own; what is empty is written as {} or []."""
    return type(data) in (dict, list) and bool(data)


def _write(data: Any, depth: int, lines: list[str]) -> None:
    """Append the lines of a mapping or a list, `depth` steps to the right."""
    start = "  " * depth
    if type(data) is list:
        for item in data:
            if _is_collection(item):
                first = len(lines)
                _write(item, depth + 1, lines)
                lines[first] = f"{start}- {lines[first][len(start) + 2 :]}"
            elif (simple := _simple(item)) is not None:
                lines.append(f"{start}- {simple}")
            else:
                lines.extend(_by_yaml([item], depth))
        return
    for key, value in data.items():
        name = _simple(key)
        if name is None:
            lines.extend(_by_yaml({key: value}, depth))
        elif _is_collection(value):
            lines.append(f"{start}{name}:")
            _write(value, depth + 1, lines)
        elif (simple := _simple(value)) is not None:
            lines.append(f"{start}{name}: {simple}")
        else:
            lines.extend(_by_yaml({key: value}, depth))


def _by_yaml(entry: object, depth: int) -> list[str]:
    """The lines of one entry, written by PyYAML so far to the right that lines are folded where they would be."""
    for _ in range(depth):
        entry = {"a": entry}
    return _dumped(entry).removesuffix("\n").split("\n")[depth:]


def _simple(value: object) -> str | None:
    """What is written of a number, a truth value or a short text; None if PyYAML should decide."""
    if type(value) is str:
        if _SIMPLE.fullmatch(value) and value not in ("true", "false", "null"):
            return value
        return f"'{value}'" if _QUOTED.fullmatch(value) else None
    if type(value) is bool:
        return "true" if value else "false"
    return str(value) if type(value) is int else None
