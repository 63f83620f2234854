"""YAML, read strictly: each key stands once, nothing is repeated by reference, `no` and `0123` are text."""

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


class _Refused(yaml.YAMLError):
    """Something that YAML allows and we do not."""


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as PyYAML has it

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise _Refused("references (*name) are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        for key, _ in node.value:
            key.tag = "tag:yaml.org,2002:str"  # a column may be called 1, no or null
        seen: list[object] = []
        for key, _ in node.value:  # the key itself is not shown: in a tree it is a value of the data
            if key.value in seen:
                raise _Refused(f"line {key.start_mark.line + 1}: this key stands twice in one place")
            seen.append(key.value)
        return super().construct_mapping(node, deep=deep)


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
    """Return what a YAML text says; errors have this code, and `source` names the text in them."""
    try:
        found: object = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader, stricter still
    except _Refused as error:
        raise InputError(f"{source}: {error}", code=code) from None
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, TypeError) as error:  # !!int x, !!bool x
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{source}: not valid YAML{where}", code=code) from None
    if found is None:
        raise InputError(f"{source}: the file is empty, or holds only comments", code=code)
    return found


def dump(data: object) -> str:
    """Return a YAML text that `load` reads back as the same."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
