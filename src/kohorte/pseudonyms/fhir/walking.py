"""Apply rules to one resource: every element is kept, removed, pseudonymized or shifted.

Some elements are removed although `other` keeps the rest, unless a rule names them: the narrative (`text`), extensions,
what a reference shows besides its target (`display`, `identifier`), and when and where a resource was stored (`meta`
without profile, security and tag). An unnamed modifierExtension is refused: without it the resource would mean
something else. An unnamed element that names a person is refused, too, and all that stays is looked at (`kept`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kohorte.errors import InputError
from kohorte.pseudonyms.fhir.kept import THINGS, Kept, Kind, identifying
from kohorte.pseudonyms.fhir.pending import Batch, Maker, Pending, PendingDate, is_placeholder
from kohorte.pseudonyms.fhir.references import Target, target_of
from kohorte.pseudonyms.fhir.rules import KEEP, REMOVE, Act, Action, Node, Rules, TypeRules
from kohorte.pseudonyms.fhir.types import TYPES
from kohorte.pseudonyms.texts import plain_text

GONE: Final = object()
PATIENT = "Patient"
PEOPLE = ("subject", "patient")
META_KEPT = ("profile", "security", "tag")
IDENTIFIER_KEPT = ("use", "type", "system")
"""What stays beside the pseudonym of an identifier, unless a rule names more."""
MODIFIER = "modifierExtension"
EXTENSIONS = ("extension", MODIFIER)
_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9:.]{5,20}(Z|[+-][0-9]{2}:[0-9]{2})?)?)?)?")
_PRECISION = {Act.YEAR: 4, Act.MONTH: 7}
_NAME = re.compile(r"_?[A-Za-z][A-Za-z0-9]{0,63}")


@dataclass
class Counts:
    """What happened to resources, in numbers."""

    resources: dict[str, int] = field(default_factory=dict)
    resources_removed: int = 0
    references: int = 0
    dates_shifted: int = 0
    dates_removed: int = 0
    placeholders_removed: int = 0


@dataclass
class Around:
    """What is around an element: the place in the file, the Bundle, the person, and ids of contained resources."""

    where: str
    urns: Mapping[str, Target]
    person: str | None = None
    local: dict[str, str] = field(default_factory=dict)
    element: str = ""
    extension: bool = False
    """Whether the element is in an extension that a rule names."""
    path: list[str] = field(default_factory=list)
    """The type of the resource, and the names of the elements down to this one."""
    inside: bool = False
    """Whether the element is in one that names a person."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """The object that the element is in."""

    def at(self) -> str:
        """The place for messages, without values."""
        return f"{self.where}: {self.element}"


class Walker:
    """Applies the rules of a file to resources; what is to be made of a whole batch is added to `batch`."""

    def __init__(self, rules: Rules, makers: Mapping[str, Maker], counts: Counts, kept: Kept) -> None:
        self.rules, self.makers, self.counts, self.kept, self.batch = rules, makers, counts, kept, Batch()
        self._said = rules.said

    def resource(self, resource: Any, where: str, urns: Mapping[str, Target], own: Target | None = None) -> Any:
        """A resource by the rules of its type; GONE if the rules leave it out."""
        type_, rules = self._type(resource, where)
        if rules.removed:
            self.counts.resources_removed += 1
            return GONE
        around = Around(where, urns)
        around.person = self._person(resource, type_, rules, around, own)
        around.local = self._local_ids(resource.get("contained"), rules, where)
        self.counts.resources[type_] = self.counts.resources.get(type_, 0) + 1
        return self._elements(resource, type_, rules, around)

    def pseudonym(self, container: Any, key: str, target: Target, where: str, written: str) -> None:
        """Write a reference that is not in a resource, such as the full URL of an entry."""
        identity = self._rules_of(target.type, where).identity
        self._keeps_server(target, identity, ["Bundle", "entry", key])
        if identity.act is Act.PSEUDONYMIZE:
            self._store(container, key, self._pending(identity, target.original, where, target))
        elif identity.act is Act.KEEP:
            container[key] = written

    def _type(self, resource: Any, where: str) -> tuple[str, TypeRules]:
        type_ = resource.get("resourceType") if isinstance(resource, dict) else None
        if not isinstance(type_, str):
            raise InputError(f"{where}: is not a resource of FHIR: resourceType is missing", code="fhir-json")
        return type_, self._rules_of(type_, where)

    def _rules_of(self, type_: str, where: str) -> TypeRules:
        rules = self.rules.types.get(type_)
        if rules is None:
            named = f"the type {type_}" if type_ in TYPES else "an unknown type"
            raise InputError(
                f"{where}: the rules say nothing about {named}; give it rules, or leave it out with '{_shown(type_)}: "
                "remove'",
                code="fhir-type",
            )
        return rules

    def _person(
        self, resource: Mapping[str, Any], type_: str, rules: TypeRules, around: Around, own: Target | None
    ) -> str | None:
        """The patient whom a resource is about, by whom dates are shifted; None if it does not say."""
        if self.rules.date_domain is None:
            return None
        found = None
        if type_ == PATIENT:
            identity = resource.get("id")
            found = identity if isinstance(identity, str) else own.original if own is not None else None
        for name in (rules.person,) if rules.person is not None else PEOPLE:
            link = resource.get(name)
            reference = link.get("reference") if isinstance(link, dict) else None
            target = target_of(reference, around.urns) if isinstance(reference, str) else None
            if found is None and target is not None and target.type == PATIENT:
                found = target.original
        return None if found is None else self._spelled(self.rules.date_domain, found)

    def _elements(
        self, resource: Mapping[str, Any], type_: str, rules: TypeRules, around: Around, local: str | None = None
    ) -> dict[str, Any]:
        """The elements of a resource, or of a contained one, which has a new local id."""
        out: dict[str, Any] = {"resourceType": type_}
        outer, around.path = around.path, [type_]
        for key, value in resource.items():
            if key == "resourceType":
                continue
            around.element = f"{type_}.{key}" if _NAME.fullmatch(key) else type_
            node = rules.root.children.get(key)
            if key == "id":
                kept = local if local is not None else self._identity(value, rules, around)
            elif key == "contained":
                kept = self._contained(value, around)
            elif key == "meta" and node is None:
                kept = self._meta(value, rules.other, around)
            else:
                kept = self._child(key, value, node, rules.other, around)
            self._store(out, key, kept)
        around.path = outer
        return out

    def _identity(self, value: Any, rules: TypeRules, around: Around) -> Any:
        if not isinstance(value, str):
            raise InputError(f"{around.at()}: is not a text", code="fhir-json")
        if rules.identity.act is Act.PSEUDONYMIZE:
            return self._pending(rules.identity, value, around.at(), is_id=True)
        if rules.identity.act is Act.REMOVE:
            return GONE
        self._keeps_id(around.path[0], [*around.path, "id"])
        return value

    def _keeps_id(self, type_: str, path: list[str]) -> None:
        if type_ not in THINGS:
            self.kept.add(path, Kind.IDENTIFIER)

    def _keeps_server(self, target: Target, identity: Action, path: list[str]) -> None:
        """List the address of a server, which stays in front of a new id."""
        if target.base and identity.act is not Act.REMOVE:
            self.kept.add(path, Kind.IDENTIFIER)

    def _local_ids(self, contained: Any, rules: TypeRules, where: str) -> dict[str, str]:
        """The contained resources that are kept: their local ids, and the new ones."""
        node = rules.root.children.get("contained")
        action = rules.other if node is None or node.action is None else node.action
        if not isinstance(contained, list) or action.act is not Act.KEEP:
            return {}
        kept = [str(one.get("id")) for one in contained if not self._type(one, where)[1].removed]
        return {name: f"c{number}" for number, name in enumerate(kept, start=1)}

    def _contained(self, value: Any, around: Around) -> Any:
        """The contained resources that are kept, by the rules of their own types."""
        out = []
        for one in value if isinstance(value, list) else ():
            local = around.local.get(str(one.get("id"))) if isinstance(one, dict) else None
            if local is not None:
                out.append(self._elements(one, *self._type(one, around.where), around, local))
        return out or GONE

    def _meta(self, value: Any, other: Action, around: Around) -> Any:
        if other.act is Act.REMOVE or not isinstance(value, dict):
            return GONE
        return self._object({key: value[key] for key in META_KEPT if key in value}, None, KEEP, around)

    # Elements

    def _child(self, key: str, value: Any, node: Node | None, action: Action, around: Around) -> Any:
        """One element; what no rule names has the action of what it is in."""
        extends = key in EXTENSIONS or key.startswith("_")
        if node is None and action.act is Act.REMOVE:
            return GONE
        if node is None and not around.extension:
            if key == MODIFIER:
                raise InputError(
                    f"{around.at()}: has a modifierExtension, without which it would mean something else; name it in "
                    "the rules",
                    code="fhir-modifier",
                )
            if extends or (key == "text" and isinstance(value, dict)):
                return GONE
        before, around.extension = around.extension, around.extension or extends
        around.path.append(key)
        kept = self._element(value, node, action, around)
        if kept is not GONE and not _NAME.fullmatch(key):
            self.kept.add(around.path, Kind.TEXT)  # no name of an element: it may be anything
        around.path.pop()
        around.extension = before
        return kept

    def _element(self, value: Any, node: Node | None, action: Action, around: Around) -> Any:
        if node is not None and node.action is not None:
            action = node.action
        if isinstance(value, list):
            out: list[Any] = []
            for item in value:
                kept = self._element(item, node, action, around)
                if kept is not GONE and kept is not None:
                    out.append(kept)
                    if isinstance(kept, Pending | PendingDate):
                        self.batch.add(out, len(out) - 1, kept)
            return out or GONE
        if isinstance(value, dict):
            return self._object(value, node, action, around)
        self._look(value, action, around, is_named=node is not None and node.action is not None)
        return self._leaf(value, action, around)

    def _look(self, value: Any, action: Action, around: Around, *, is_named: bool) -> bool:
        """Whether an element names a person; it is refused if it is kept and no rule names it."""
        number = identifying(around.path, value)
        if number is not None and action.act is Act.KEEP and not around.inside:
            self.kept.refuse(around.path, number, around.where, is_named=is_named)
        return number is not None

    def _object(self, value: Mapping[str, Any], node: Node | None, action: Action, around: Around) -> Any:
        nodes = [] if node is None else [node]
        for name, text, found in () if node is None else node.conditions:
            if value.get(name) == text:
                nodes.insert(0, found)
                action = action if found.action is None else found.action
                break
        if action.act is Act.PSEUDONYMIZE and type(value.get("value")) is not str:
            raise _no_text(around)
        is_named = any(one.action is not None for one in nodes)
        before, inside = around.inside, self._look(value, action, around, is_named=is_named) or around.inside
        out: dict[str, Any] = {}
        refers = isinstance(value.get("reference"), str)
        shows = refers or ("display" in value and "code" not in value and "system" not in value)
        for key, item in value.items():
            around.inside, around.beside = inside, value
            child = next((one.children[key] for one in nodes if key in one.children), None)
            if child is None and (key == "identifier" or (key == "display" and shows)):
                continue
            inherited = action
            if action.act is Act.PSEUDONYMIZE and key != "value":
                inherited = KEEP if key in IDENTIFIER_KEPT else REMOVE
                if key == "system" and action.system is not None:
                    out[key] = action.system
                    continue
            if refers and key == "reference" and child is None and inherited.act is not Act.REMOVE:
                kept = self._reference(item, around)
                if kept is GONE:
                    out = {}
                    break
            else:
                kept = self._child(key, item, child, inherited, around)
            self._store(out, key, kept)
        around.inside = before
        return out or GONE

    def _leaf(self, value: Any, action: Action, around: Around) -> Any:
        if action.act is Act.KEEP:
            if self._refers(value, around):
                return self._reference(value, around)
            if (around.path[-1], value) not in self._said:
                self.kept.leaf(around.path, value, is_inside=around.inside, beside=around.beside)
            return value
        if action.act is Act.REMOVE or value is None:
            return GONE
        if action.act is Act.PSEUDONYMIZE:
            if type(value) is not str:
                raise _no_text(around)
            return self._pending(action, value, around.at())
        return self._date(value, action, around)

    def _date(self, value: Any, action: Action, around: Around) -> Any:
        """A date that is shortened, or moves with the others of the person; GONE if it cannot, or stands for none."""
        if not isinstance(value, str) or not _DATE.fullmatch(value):
            raise InputError(f"{around.at()}: is not a date of FHIR", code="fhir-date")
        if action.act is not Act.SHIFT_DATES:
            return value[: _PRECISION[action.act]]
        if around.person is None:
            self.counts.dates_removed += 1
            return GONE
        if is_placeholder(value):
            self.counts.placeholders_removed += 1
            return GONE
        self.counts.dates_shifted += 1
        return PendingDate(around.person, value, around.at())

    def _refers(self, value: Any, around: Around) -> bool:
        """Whether a text that is kept refers to a resource whose id does not stay, such as a URI in a task.

        A URL counts only if it is that of an entry: those of profiles and code systems look alike.
        """
        if type(value) is not str or not ("/" in value or value.startswith("urn:")):
            return False
        target = around.urns.get(value) if value.startswith("http") else target_of(value, around.urns)
        rules = None if target is None else self.rules.types.get(target.type)
        return rules is not None and rules.identity.act is not Act.KEEP

    def _reference(self, text: str, around: Around) -> Any:
        """A reference to what the rules keep or pseudonymize; GONE if they remove it."""
        if text.startswith("#"):
            local = around.local.get(text[1:])
            return text if text == "#" else f"#{local}" if local is not None else GONE
        target = target_of(text, around.urns)
        if target is None:
            raise InputError(
                f"{around.at()}: has a reference that is neither TYPE/ID nor to an entry of the Bundle, so that nobody "
                "can tell whom it names; remove the element by a rule",
                code="fhir-reference",
            )
        identity = self._rules_of(target.type, around.at()).identity
        if identity.act is Act.REMOVE:
            return GONE
        self.counts.references += 1
        self._keeps_server(target, identity, around.path)
        if identity.act is Act.PSEUDONYMIZE:
            return self._pending(identity, target.original, around.at(), target)
        self._keeps_id(target.type, around.path)
        return text if target.as_urn else target.written(target.original)

    def _pending(
        self, action: Action, text: str, where: str, target: Target | None = None, *, is_id: bool = False
    ) -> Any:
        spelled = self._spelled(action.domain, text)
        if spelled is None:
            return GONE
        write = None if target is None else target.written
        return Pending(action.domain, spelled, where, write, is_id or target is not None)

    def _spelled(self, domain: str, text: str) -> str | None:
        return plain_text(self.makers[domain].domain.definition, text)

    def _store(self, container: Any, key: Any, value: Any) -> None:
        if value is GONE:
            return
        container[key] = value
        if isinstance(value, Pending | PendingDate):
            self.batch.add(container, key, value)


def _shown(type_: str) -> str:
    return type_ if type_ in TYPES else "TYPE"


def _no_text(around: Around) -> InputError:
    return InputError(f"{around.at()}: is not a text, and so has no pseudonym", code="fhir-value")
