"""What the members of a run learn, in the words of the protocol that they used."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from kohorte.models.words import section_of
from kohorte.parties.study import HELPER, Protocol, Study

MASTER, FINISHER, PARTY, OTHER = "master", "the party that opens the release", "party", "other party"
SUBJECTS: Mapping[str, str] = {
    "The party that opens the release": FINISHER,
    "The master": MASTER,
    "The helper": HELPER,
    "Every party": PARTY,
    "Each party": PARTY,
    "A party": PARTY,
    "The other parties": OTHER,
}
"""How the sentences about a role begin; a sentence that begins in another way is about everybody."""


@dataclass(frozen=True)
class Learnt:
    """A member, what it is in the study, and the sentences of the protocol about what it learns."""

    name: str
    roles: str
    sentences: Sequence[str]


def learnt(study: Study) -> list[Learnt]:
    """What each member learns."""
    said = [(_role_of(sentence), sentence) for sentence in _sentences(section_of(_words_of(study), "Learns"))]
    if study.protocol is Protocol.A and study.dummies:
        said += _as_in_protocol_c()
    found = []
    for name in study.members:
        roles = roles_of(study, name)
        own = [sentence for role, sentence in said if role in (None, *roles)]
        found.append(Learnt(name, _in_words(study, name, roles), own))
    return found


def _as_in_protocol_c() -> list[tuple[str | None, str]]:
    """What protocol A with dummy rows says with a word about protocol C: its master learns what that helper learns."""
    said = [(_role_of(sentence), sentence) for sentence in _sentences(section_of(_docstring("protocol_c"), "Learns"))]
    return [(MASTER if role == HELPER else role, sentence) for role, sentence in said if role in (HELPER, FINISHER)]


def leaves_open(study: Study) -> list[str]:
    """What the protocol does not protect against."""
    return _sentences(section_of(_words_of(study), "Leaves open"))


def source(study: Study) -> str:
    """Where the protocol was published."""
    return section_of(_words_of(study), "Source")


def roles_of(study: Study, name: str) -> tuple[str, ...]:
    """The roles of a member: helper, or party and what else it does."""
    if name == HELPER:
        return (HELPER,)
    master = study.protocol is Protocol.A and name == _master(study)
    special = (*((MASTER,) if master else ()), *((FINISHER,) if name == study.finisher else ()))
    return PARTY, *(special or (OTHER,))


def _master(study: Study) -> str:
    from kohorte.parties.roles.protocol_a import Ring

    return Ring(study.names, study.finisher, study.finisher).master


def _in_words(study: Study, name: str, roles: Sequence[str]) -> str:
    if HELPER in roles:
        return "the helper, which holds no data"
    words = ["a party with data of its own"]
    words += ["the master, which anonymizes the encrypted table"] if MASTER in roles else []
    words += ["opens the release"] if FINISHER in roles else []
    words += [] if name in study.receivers else ["does not get the release"]
    return ", ".join(words)


def _words_of(study: Study) -> str:
    """The docstring of the protocol."""
    counted = study.protocol is Protocol.A and study.dummies
    return _docstring(f"protocol_{study.protocol.lower()}{'_counted' if counted else ''}")


def _docstring(module: str) -> str:
    return inspect.getdoc(import_module(f"kohorte.parties.roles.{module}")) or ""


def _sentences(words: str) -> list[str]:
    return re.split(r"(?<=\.) (?=[A-Z])", words) if words else []


def _role_of(sentence: str) -> str | None:
    return next((role for subject, role in SUBJECTS.items() if sentence.startswith(f"{subject} ")), None)
