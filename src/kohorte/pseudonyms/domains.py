"""Domains: where pseudonyms of one kind, one key and one shape belong; they form a tree.

A domain is two files in the folder: domain-NAME.json, its definition, and domain-NAME.key, its key. The texts of a
domain with a parent are the pseudonyms of the parent: a pseudonym of a pseudonym. Another place with another key can
make it, and neither place alone can go the whole way back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from kohorte.data import atomic_write
from kohorte.data.files import read_text
from kohorte.errors import InputError, member_named, nearest
from kohorte.pseudonyms.alphabets import Alphabet
from kohorte.pseudonyms.definition import Definition, KeyState
from kohorte.pseudonyms.kinds import KINDS, PseudonymKind, ReferenceList
from kohorte.pseudonyms.shape import Check
from kohorte.trust import pid
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import Key, KeyFile, Keys
from kohorte.trust.log import account
from kohorte.trust.private_files import locked
from kohorte.trust.records.facts import DEFINED, DESTROY_BEGINS, DESTROYED, ROTATED

PREFIX = "domain-"


@dataclass(frozen=True)
class Domain:
    """A domain that is ready to make pseudonyms."""

    definition: Definition
    keys: Keys
    kind: PseudonymKind
    parent: Definition | None = None
    """The domain whose pseudonyms are the texts of this one."""

    def key(self, version: int | None) -> Key:
        """The version of the key that is used: the given one or, if none is given, the current one."""
        if version is None:
            return self.keys.current
        if version in self.definition.destroyed:
            raise _destroyed(self.definition.name, f"version {version} of its key")
        if not self.kind.chooses_version and version != self.keys.current.version:
            raise InputError(
                "a list remembers the key of every entry; an old version cannot be chosen for it",
                code="pseudonym-kind-option",
            )
        return self.keys.version(version)


class Domains:
    """The domains of a folder."""

    def __init__(self, folder: TrustFolder) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """The names of all domains."""
        files = self.folder.path.glob(f"{PREFIX}*.json")
        return sorted(path.name.removeprefix(PREFIX).removesuffix(".json") for path in files)

    def lost(self) -> list[str]:
        """The names of domains that were made, by the log, and whose definitions are missing."""
        made = {about.removeprefix("domain ") for about in self.folder.log.checked().defined}
        return sorted(made - set(self.names()))

    def definitions(self) -> list[Definition]:
        """The definitions of all domains."""
        return [self.definition(name) for name in self.names()]

    def definition(self, name: str) -> Definition:
        """Read the definition of a domain."""
        path = self._path(name)
        if name not in (names := self.names()):
            if name in self.lost():
                raise self.lost_error(name)
            known = f"; known are {', '.join(names)}" if names else "; the folder has none yet"
            raise InputError(
                f"there is no domain {name!r}{nearest(name, names)}{known}", code="pseudonym-domain-unknown"
            )
        text = read_text(path, what="definition of a domain", code="pseudonym-domain-damaged")
        try:
            data = json.loads(text)
        except ValueError:
            raise InputError(
                f"{path.name}: is not the definition of a domain", code="pseudonym-domain-damaged"
            ) from None
        definition = Definition.from_dict(data, source=path.name)
        if definition.name != name:
            raise InputError(f"{path.name}: is the definition of another domain", code="pseudonym-domain-damaged")
        return definition

    def open(self, name: str) -> Domain:
        """Open a domain with its key; a lost or wrong key is an error that says what is lost."""
        definition = self.definition(name)
        if definition.destroyed and not definition.keys:
            raise _destroyed(name, "its key")
        keys = self._checked_keys(definition)
        if keys.current.version not in definition.keys or self._unlogged(name, keys):
            definition = self._rotated(name, keys, actor=account())
        return self._domain(definition, keys)

    def _checked_keys(self, definition: Definition) -> Keys:
        keys = self._key_file(definition.name).read()
        self._refuse_put_back(definition.name, keys)
        self._refuse_changed(definition, keys)
        keys.check(definition.keys)
        return keys

    def key_problem(self, definition: Definition) -> InputError | None:
        """What is wrong with the key of a domain, such as that it is lost; nothing if it was destroyed."""
        if definition.destroyed and not definition.keys:
            return None
        try:
            self._checked_keys(definition)
        except InputError as error:
            return error
        return None

    def key_state(self, definition: Definition) -> KeyState:
        """Whether the key of a domain can be used, in a word."""
        if definition.destroyed and not definition.keys:
            return KeyState.DESTROYED
        problem = self.key_problem(definition)
        if problem is None:
            return KeyState.USABLE
        return KeyState.LOST if problem.code == "trust-key-lost" else KeyState.REFUSED

    def verify(self, name: str) -> None:
        """Refuse a domain whose key, or whose list, is not what the log says; one that was destroyed is as it says."""
        definition = self.definition(name)
        if definition.destroyed and not definition.keys and not self._key_file(name).exists:
            return
        kind = self.open(name).kind
        if isinstance(kind, ReferenceList):
            kind.entries.verify()

    def create(self, definition: Definition, *, actor: str) -> Domain:
        """Make a domain with a new key. A key file that is there without a definition is used, never replaced."""
        if definition.parent is not None:
            self.definition(definition.parent)
        with locked(self.folder.path):
            if definition.name in self.names():
                raise InputError(f"there is a domain {definition.name!r} already", code="pseudonym-domain-exists")
            file = self._key_file(definition.name)
            self._refuse_made_before(definition, file)
            keys = file.read() if file.exists else file.create()
            self._refuse_put_back(definition.name, keys)
            made = self._written(definition, keys)
        self.folder.log.append(DEFINED, f"domain {made.name}", actor=actor, kind=made.kind, definition=self._mark(made))
        return self._domain(made, keys)

    def _refuse_made_before(self, definition: Definition, file: KeyFile) -> None:
        """Refuse to make a domain again whose key is lost, or differently: people would get other pseudonyms."""
        made = self.folder.log.checked().defined.get(f"domain {definition.name}")
        if made is not None and not file.exists:
            raise self.lost_error(definition.name)
        if made is not None and made != self._mark(definition):
            raise InputError(
                f"the domain {definition.name!r} was made before, and differently; restore "
                f"{self._path(definition.name).name} from a copy, make it as it was, or take another name",
                code="pseudonym-domain-damaged",
            )

    def lost_error(self, name: str) -> InputError:
        """The error of a domain whose definition is missing; it says what is lost."""
        file, path = self._key_file(name), self._path(name)
        if file.exists:
            return InputError(
                f"the domain {name!r}: its definition {path.name} is missing; restore it from a copy, or make the "
                "domain again as it was: its key is there",
                code="pseudonym-domain-damaged",
            )
        return InputError(
            f"{file.owner}: {path.name} and its key file {file.path.name} are missing; restore them from a copy, "
            f"otherwise {file.lost}",
            code="trust-key-lost",
        )

    def rotate_key(self, name: str, *, actor: str) -> Domain:
        """Give a domain a new version of its key; what older versions made stays resolvable."""
        self.open(name)
        keys = self._key_file(name).rotate()
        return self._domain(self._rotated(name, keys, actor=actor), keys)

    def _rotated(self, name: str, keys: Keys, *, actor: str) -> Definition:
        """Let definition and log know a new version of the key, before anything is made with it.

        If the process that rotated was killed, the next one that opens the domain does this: otherwise nobody would
        notice an older key file that is put back, and what the new version made would be lost without a word.
        """
        with locked(self.folder.path):
            definition = self.definition(name)
            newest = max(definition.keys, default=keys.current.version)
            new = {key.version: key.fingerprint for key in keys.versions if key.version > newest}
            if new:
                definition = self._stored(replace(definition, keys={**definition.keys, **new}))
        if self._unlogged(name, keys):
            self.folder.log.append(ROTATED, f"domain {name}", actor=actor, version=keys.current.version)
        return definition

    def _unlogged(self, name: str, keys: Keys) -> bool:
        """Whether the log does not know the current version of the key; the first one comes with the domain."""
        return keys.current.version > self.folder.log.checked().rotated.get(f"domain {name}", 1)

    def forget(self, name: str, pseudonyms: Sequence[str], *, actor: str) -> int:
        """Destroy the entries of pseudonyms in a list, and so their link to people; return how many there were."""
        kind = self.open(name).kind
        if not isinstance(kind, ReferenceList):
            raise InputError(
                f"the domain {name!r} has no list whose entries could be destroyed; 'kohorte domain destroy-key' ends "
                "the link of all its pseudonyms",
                code="pseudonym-no-list",
            )
        found = kind.forget(pseudonyms)
        self.folder.log.append(
            "forget", f"domain {name}", actor=actor, kind="entries of a list", entries=found, asked_for=len(pseudonyms)
        )
        return found

    def destroy_key(self, name: str, version: int | None = None, *, actor: str) -> tuple[int, ...]:
        """Destroy the key of a domain, or one old version: what it made can never be resolved or made again.

        The log and the definition say so first: a key that is put back from a copy later is not used. A process that is
        killed leaves a domain that cannot be used, and the next run ends what it began. Returns what is gone.
        """
        gone = self.destructible(name, version)
        definition, file = self.definition(name), self._key_file(name)
        keys = file.read()
        left = {number: mark for number, mark in definition.keys.items() if number not in {key.version for key in gone}}
        numbers = tuple(sorted({*definition.destroyed, *(key.version for key in gone)}))
        self._note_destroyed(DESTROY_BEGINS, definition, gone, actor=actor)
        with locked(self.folder.path):
            self._stored(replace(definition, keys=left, destroyed=numbers))
        entries = self._without_entries(definition, keys) if version is None else 0
        file.destroy(version)
        self._note_destroyed(DESTROYED, definition, gone, actor=actor, entries=entries)
        return tuple(key.version for key in gone)

    def destructible(self, name: str, version: int | None = None) -> tuple[Key, ...]:
        """Return what `destroy_key` would destroy; refuse what it would refuse."""
        definition, file = self.definition(name), self._key_file(name)
        begun = bool(definition.destroyed) and not definition.keys
        if begun and not file.exists:
            raise _destroyed(name, "its key")
        keys = file.read()
        self._refuse_version(definition, keys, version)
        return tuple(key for key in keys.versions if version is None or key.version == version)

    def _refuse_version(self, definition: Definition, keys: Keys, version: int | None) -> None:
        if version is None:
            return
        if definition.kind == ReferenceList.name:
            raise InputError(
                "the entries of a list need all versions of its key; destroy the whole key, or forget entries",
                code="pseudonym-kind-option",
            )
        if version in definition.destroyed and version not in {key.version for key in keys.versions}:
            raise _destroyed(definition.name, f"version {version} of its key")
        if keys.version(version) == keys.current:
            raise InputError(
                f"version {version} is the current one; rotate the key first, or destroy all versions",
                code="pseudonym-key-current",
            )

    def _without_entries(self, definition: Definition, keys: Keys) -> int:
        """Remove the entries of a list whose key ends; without the key nobody could read them."""
        kind = self._domain(definition, keys).kind
        return kind.unchecked().forget_all() if isinstance(kind, ReferenceList) else 0

    def _note_destroyed(
        self, action: str, definition: Definition, gone: Sequence[Key], *, actor: str, **counts: int
    ) -> None:
        for key in gone:
            self.folder.log.append(
                action, f"domain {definition.name}", actor=actor, kind=definition.kind, version=key.version,
                fingerprint=key.fingerprint, **counts,
            )  # fmt: skip

    def _refuse_changed(self, definition: Definition, keys: Keys) -> None:
        """Refuse a definition that is not the one of the log, and a key without the version that the log knows."""
        facts, about = self.folder.log.checked(), f"domain {definition.name}"
        if facts.defined.get(about, mark := self._mark(definition)) != mark:
            raise InputError(
                f"{self._path(definition.name).name}: the definition was changed after the domain was made; restore it "
                "from a copy",
                code="pseudonym-domain-damaged",
            )
        if keys.current.version < (latest := facts.rotated.get(about, 0)):
            keys.version(latest)  # says that it is lost

    def _mark(self, definition: Definition) -> str:
        """What stands for a definition in the log: what was chosen, without its keys, which change."""
        usual = {one.name: one.default for one in fields(definition)}
        chosen = {name: value for name, value in definition.figures.items() if value != usual.get(name, MISSING)}
        chosen.pop("key_version", None)
        return self.folder.log.fingerprint(json.dumps(chosen, sort_keys=True))

    def _refuse_put_back(self, name: str, keys: Keys) -> None:
        """Refuse a key that the log says was destroyed."""
        destroyed = self.folder.log.checked().destroyed.get(f"domain {name}", {})
        for key in keys.versions:
            if (at := destroyed.get(key.fingerprint)) is not None:
                raise InputError(
                    f"the domain {name!r}: version {key.version} of its key was destroyed on {at[:10]} and was put "
                    "back from a copy; destroy it again with 'kohorte domain destroy-key', and the copy, too",
                    code="pseudonym-key-put-back",
                )

    def complete(self) -> int:
        """Forget again in all lists what an older database brought back; return how many entries that were."""
        found = 0
        for definition in self.definitions():
            if definition.kind == ReferenceList.name and definition.keys:
                kind = self.open(definition.name).kind
                found += kind.unchecked().complete() if isinstance(kind, ReferenceList) else 0
        return found

    def key_path(self, name: str) -> Path:
        """Where the key of a domain is."""
        return self._key_file(name).path

    def _written(self, definition: Definition, keys: Keys) -> Definition:
        return self._stored(replace(definition, keys={key.version: key.fingerprint for key in keys.versions}))

    def _stored(self, made: Definition) -> Definition:
        with atomic_write(self._path(made.name), force=True, private=True) as temporary:
            temporary.write_text(json.dumps(made.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return made

    def _domain(self, definition: Definition, keys: Keys) -> Domain:
        kind = member_named(definition.kind, KINDS, what="kind of pseudonym", code="pseudonym-kind")
        parent = None if definition.parent is None else self.definition(definition.parent)
        return Domain(definition, keys, kind(definition, keys, self.folder), parent)

    def _key_file(self, name: str) -> KeyFile:
        lost = f"no pseudonym of the domain {name!r} that was made with it can be made again or resolved"
        return self.folder.key_file(f"{PREFIX}{name}", owner=f"the domain {name!r}", lost=lost)

    def _path(self, name: str) -> Path:
        return self.folder.path / f"{PREFIX}{name}.json"


def _destroyed(name: str, what: str) -> InputError:
    return InputError(
        f"the domain {name!r}: {what} was destroyed; no pseudonym that was made with it can be made again or resolved",
        code="pseudonym-key-destroyed",
    )


def definition_of(
    name: str, kind: str, *, alphabet: str | None = None, length: int | None = None, **options: Any
) -> Definition:
    """Return a definition that its kind can keep, with the defaults of the kind where nothing else is said."""
    family = member_named(kind, KINDS, what="kind of pseudonym", code="pseudonym-kind")
    if options.get("check") is None:
        options["check"] = (Check.NONE if options.get("keep_format") else Check.TWO).value
    usual = pid.CARRIERS if options["check"] == Check.PID else family.default_length
    letters = Alphabet.named("unambiguous" if alphabet is None else alphabet).characters
    definition = Definition(name, kind, letters, usual if length is None else length, **options)
    family.check(definition)
    return definition
