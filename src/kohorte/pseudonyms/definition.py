"""The definition of a domain: everything about it but its key; it is not secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Self

from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.pseudonyms.alphabets import Alphabet
from kohorte.pseudonyms.shape import Check, Shape
from kohorte.trust.domain_names import refuse_domain_name

FORMAT = 1


class KeyState(StrEnum):
    """How the key of a domain is: `refused` is another key, one that was put back, or a file open to others."""

    USABLE = "usable"
    LOST = "lost"
    REFUSED = "refused"
    DESTROYED = "destroyed"


@dataclass(frozen=True)
class Definition:
    """How the pseudonyms of a domain look and what they are made of.

    `parent` is the domain whose pseudonyms are the texts of this one. `exact` takes texts as they are written;
    otherwise blanks around a text do not count, and composed and decomposed letters are the same (NFC).
    """

    name: str
    kind: str
    alphabet: str
    length: int
    prefix: str = ""
    check: str = Check.TWO.value
    parent: str | None = None
    exact: bool = False
    numbered: bool = False
    keep_format: bool = False
    keys: Mapping[int, str] = field(default_factory=dict)
    """The fingerprint of every version of the key."""
    destroyed: tuple[int, ...] = ()
    """The versions of the key that were destroyed."""

    def __post_init__(self) -> None:
        refuse_domain_name(self.name)
        if self.check not in set(Check):
            raise InputError(f"check: is one of {', '.join(Check)}", code="pseudonym-check", field="check")
        if self.parent == self.name:
            raise InputError("a domain is not its own parent", code="pseudonym-parent", field="parent")
        self.shape.in_words  # noqa: B018 - refuses a shape that cannot be

    @property
    def shape(self) -> Shape:
        """The shape of the pseudonyms."""
        return Shape(Alphabet(self.alphabet), self.length, self.prefix, Check(self.check))

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain data."""
        return {"kohorte": FORMAT} | asdict(self) | {"keys": {str(number): name for number, name in self.keys.items()}}

    @property
    def figures(self) -> dict[str, Any]:
        """Everything that people are shown: the definition with the current version of the key, no fingerprints."""
        shown = {name: value for name, value in asdict(self).items() if name not in ("keys", "destroyed")}
        return shown | {"key_version": max(self.keys, default=None)}

    @classmethod
    def from_dict(cls, data: object, *, source: str) -> Self:
        """Read a definition; `source` names it in messages."""
        if not isinstance(data, Mapping) or data.get("kohorte") != FORMAT:
            raise InputError(f"{source}: is not the definition of a domain", code="pseudonym-domain-damaged")
        known = [one.name for one in fields(cls)]
        refuse_unknown_keys(data, ["kohorte", *known], where=source, code="pseudonym-domain-damaged")
        try:
            keys = {int(number): str(name) for number, name in data["keys"].items()}
            destroyed = tuple(int(number) for number in data.get("destroyed", ()))
            return cls(**{name: data[name] for name in known if name in data} | {"keys": keys, "destroyed": destroyed})
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            message = error.message if isinstance(error, InputError) else "a part is missing or of the wrong type"
            raise InputError(f"{source}: {message}", code="pseudonym-domain-damaged") from None
