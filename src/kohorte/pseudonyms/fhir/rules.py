"""The rule file: what happens to each element of each type of resource.

    kohorte: 1
    dates: {domain: study, within: 30}
    resources:
      Patient:
        id: {pseudonymize: study}
        identifier.where(system = 'https://hospital.example/mrn'): {pseudonymize: mrn}
        birthDate: year
        other: remove
      Practitioner: remove

The most specific rule of an element decides, `other` where none does. A type without rules is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest
from kohorte.pseudonyms.dates import MOST_DAYS
from kohorte.trust.domain_names import refuse_domain_name

FORMAT = 1
KEYS = ("kohorte", "dates", "resources")
TYPE = re.compile(r"[A-Z][A-Za-z]{1,63}")
_STEP = re.compile(r"_?[A-Za-z][A-Za-z0-9]*")
_WHERE = re.compile(r"where\(\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(?:'([^']*)'|\"([^\"]*)\")\s*\)")


class Act(StrEnum):
    """What happens to an element."""

    KEEP = "keep"
    REMOVE = "remove"
    PSEUDONYMIZE = "pseudonymize"
    SHIFT_DATES = "shift-dates"
    YEAR = "year"
    MONTH = "month"


@dataclass(frozen=True)
class Action:
    """What happens to an element, and for a pseudonym its domain and the system that an identifier gets."""

    act: Act
    domain: str = ""
    system: str | None = None


KEEP, REMOVE = Action(Act.KEEP), Action(Act.REMOVE)


@dataclass
class Node:
    """What the rules say about an element: its own action, rules for elements in it, and rules with a condition."""

    action: Action | None = None
    children: dict[str, Node] = field(default_factory=dict)
    conditions: list[tuple[str, str, Node]] = field(default_factory=list)


@dataclass(frozen=True)
class TypeRules:
    """The rules of one type of resource; `removed` leaves its resources out, and all references to them."""

    root: Node = field(repr=False)
    other: Action
    identity: Action
    person: str | None = None
    removed: bool = False


@dataclass(frozen=True)
class Rules:
    """A rule file: types of resources, and how dates are shifted."""

    types: Mapping[str, TypeRules]
    date_domain: str | None = None
    within: int = 365

    @property
    def domains(self) -> tuple[str, ...]:
        """All domains that the rules name."""
        found = [name for rules in self.types.values() for name in _domains(rules.root)]
        return tuple(dict.fromkeys([*found, *(() if self.date_domain is None else (self.date_domain,))]))

    @property
    def said(self) -> frozenset[tuple[str, str]]:
        """Names and texts of all conditions: what the file itself says tells nothing new if it stays."""
        return frozenset(pair for rules in self.types.values() for pair in _conditions(rules.root))

    @classmethod
    def from_yaml(cls, path: Path) -> Self:
        """Read a rule file."""
        text = read_text(path, what="rule file", code="fhir-rules")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="fhir-rules"))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read rules from plain dictionaries."""
        entry = _mapping(data, KEYS, "a rule file")
        if entry.get("kohorte") != FORMAT or isinstance(entry["kohorte"], bool):
            raise _wrong(f"it must begin with 'kohorte: {FORMAT}', its format version")
        resources = entry.get("resources")
        if not isinstance(resources, Mapping) or not resources:
            raise _wrong("resources: is a mapping of types of resources, such as Patient")
        types = {str(name): _type_rules(str(name), rules) for name, rules in resources.items()}
        dates = _mapping(entry.get("dates", {}), ("domain", "within"), "dates")
        domain, within = dates.get("domain"), dates.get("within", 365)
        if domain is not None:
            refuse_domain_name(domain)
        if type(within) is not int or not 1 <= within <= MOST_DAYS:
            raise _wrong(f"dates: within is a number of days from 1 to {MOST_DAYS}")
        if domain is None and any(_shifts(rules.root) for rules in types.values()):
            raise _wrong("shift-dates needs a domain, by whose key dates move: dates: {domain: NAME, within: DAYS}")
        return cls(types, domain, within)


def _type_rules(name: str, entry: object) -> TypeRules:
    if not TYPE.fullmatch(name) or (name == "Bundle" and entry != Act.REMOVE):
        raise _wrong(f"resources: {name!r} is not a type of resources that can have rules")
    if entry == Act.REMOVE:
        return TypeRules(Node(), REMOVE, REMOVE, removed=True)
    if not isinstance(entry, Mapping):
        raise _wrong(f"{name}: is 'remove', or a mapping of elements to actions")
    rules = {str(key).removeprefix(f"{name}."): value for key, value in entry.items()}
    if len(rules) < len(entry):
        raise _wrong(f"{name}: an element is named twice, with and without the type")
    person = rules.pop("person", None)
    if person is not None and (not isinstance(person, str) or not _STEP.fullmatch(person)):
        raise _wrong(f"{name}: person is the element that refers to the patient, such as subject")
    other = _action(rules.pop("other", None), f"{name}.other")
    if other.act not in (Act.KEEP, Act.REMOVE):
        raise _wrong(f"{name}: other is keep or remove: what happens to elements that no rule names")
    root = Node()
    for path, value in rules.items():
        _add(root, path, _action(value, f"{name}.{path}"), f"{name}.{path}")
    identity = root.children.get("id", Node()).action
    if identity is None or identity.act not in (Act.KEEP, Act.REMOVE, Act.PSEUDONYMIZE):
        raise _wrong(f"{name}: say what happens to id: keep, remove or {{pseudonymize: DOMAIN}}")
    return TypeRules(root, other, identity, person)


def _add(root: Node, path: str, action: Action, where: str) -> None:
    """Add a rule; steps are names of elements as in JSON, each with at most one condition."""
    node, rest = root, path
    while True:
        step = _STEP.match(rest)
        if step is None:
            raise _wrong(f"{where}: is not a path such as name.given or identifier.where(system = 'URL')")
        node, rest = node.children.setdefault(step[0], Node()), rest[step.end() :]
        condition = _WHERE.match(rest.removeprefix("."))
        if condition is not None:
            node, rest = _conditional(node, condition), rest.removeprefix(".")[condition.end() :]
        if not rest:
            break
        if not rest.startswith("."):
            raise _wrong(f"{where}: is not a path such as name.given or identifier.where(system = 'URL')")
        rest = rest[1:]
    if node.action is not None:
        raise _wrong(f"{where}: has two rules")
    node.action = action


def _conditional(node: Node, condition: re.Match[str]) -> Node:
    name, text = condition[1], condition[2] if condition[2] is not None else condition[3]
    for known, value, found in node.conditions:
        if (known, value) == (name, text):
            return found
    found = Node()
    node.conditions.append((name, text, found))
    return found


def _action(entry: object, where: str) -> Action:
    if isinstance(entry, Mapping):
        options = _mapping(entry, (Act.PSEUDONYMIZE.value, "system"), where)
        domain, system = options.get(Act.PSEUDONYMIZE.value), options.get("system")
        refuse_domain_name(domain)
        if system is not None and not isinstance(system, str):
            raise _wrong(f"{where}: system is a text")
        return Action(Act.PSEUDONYMIZE, str(domain), system)
    known = [act.value for act in Act if act is not Act.PSEUDONYMIZE]
    if entry is None:
        raise _wrong(f"{where}: is missing or empty; actions are {', '.join(known)} and {{pseudonymize: DOMAIN}}")
    if entry not in known:
        raise _wrong(f"{where}: is one of {', '.join(known)} and {{pseudonymize: DOMAIN}}{nearest(str(entry), known)}")
    return Action(Act(str(entry)))


def _domains(node: Node) -> list[str]:
    own = [node.action.domain] if node.action is not None and node.action.domain else []
    return [*own, *(name for child in _below(node) for name in _domains(child))]


def _conditions(node: Node) -> list[tuple[str, str]]:
    own = [(name, text) for name, text, _ in node.conditions]
    return [*own, *(pair for child in _below(node) for pair in _conditions(child))]


def _shifts(node: Node) -> bool:
    own = node.action is not None and node.action.act is Act.SHIFT_DATES
    return own or any(map(_shifts, _below(node)))


def _below(node: Node) -> list[Node]:
    return [*node.children.values(), *(child for _, _, child in node.conditions)]


def _mapping(entry: object, known: tuple[str, ...], where: str) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise _wrong(f"{where}: is a mapping with the keys {', '.join(known)}")
    for key in entry:
        if key not in known:
            raise _wrong(f"{where}: has no key {str(key)!r}{nearest(str(key), known)}; known are {', '.join(known)}")
    return dict(entry)


def _wrong(reason: str) -> InputError:
    return InputError(f"rules: {reason}", code="fhir-rules")
