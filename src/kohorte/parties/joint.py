"""The joint release: verified, certified, signed by all who took part, and written by those who get it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from kohorte.data import FormulaCells, Role, TableFile, parse_table, without_quotes
from kohorte.errors import ProtocolError
from kohorte.hierarchies import Hierarchy
from kohorte.in_words import listed
from kohorte.languages import ENGLISH, Language
from kohorte.parties.dummy_rows.statement import dummies_in_words, dummy_facts, dummy_warnings
from kohorte.parties.known import Known, refuse_other_release, refuse_other_words, study_facts
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.secrets import Secrets, as_facts
from kohorte.parties.sealed import malformed, pack, unpack
from kohorte.parties.study import MIRRORED, Study
from kohorte.parties.transport.channel import Channel
from kohorte.plans.people.unstated_person import plan_note
from kohorte.plans.plan import Plan
from kohorte.plans.population import CountedPopulation, Populations
from kohorte.release.candidate import Candidate
from kohorte.release.certificate import Certificate
from kohorte.release.telling.losses import ColumnLoss
from kohorte.release.telling.verdict import Standing, Verdict
from kohorte.release.write import StagedFiles, certified_again, certified_bytes
from kohorte.search import Evaluation, SearchResult
from kohorte.sources import COUNT, FrameSource, Written

NAME = "release.csv"


class Signer(Protocol):
    """Signs with the key of a member's certificate, and checks the signatures of others by theirs."""

    @property
    def certificate(self) -> str:
        """The member's own certificate, as PEM text."""

    def sign(self, message: bytes) -> str:
        """Return the signature of a message, as text."""

    def check(self, name: str, certificate: str, message: bytes, signature: str) -> bool:
        """Tell whether a certificate is that of a member of the study, and its owner signed the message."""


@dataclass(frozen=True, eq=False)
class JointRelease:
    """A verified release of several parties: the bytes of its file, and the certificate that all have signed."""

    content: bytes = field(repr=False)
    certificate: Certificate
    study: Study

    @property
    def frame(self) -> pl.DataFrame:
        """The rows."""
        return _parsed(self.content, self.study)[0].frame

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the release, and the seconds of each phase."""
        facts: dict[str, Any] = self.certificate.facts
        told = {key: facts[key] for key in ("levels_in_words", "quality", "verdict", "lost_values")}
        return {**facts["release"], **told, "seconds": facts["joint"]["seconds"]}

    def write(self, output: Path, *, force: bool = False) -> None:
        """Write table and certificate.

        The file, read again, has the hash that all have signed: it is, byte for byte, what this party has verified.
        """
        certified: Any = self.certificate.facts["output"]
        with StagedFiles(output, self.study.plan, source=None, force=force) as files:
            if files.write_bytes(self.content) != certified["sha256"]:
                raise ProtocolError("the release is not the one that was certified", code="party-release-differs")
            files.hand_over(self.certificate)


class JointCertificate(Certificate):
    """A certificate with the protocol, the parties and their signatures."""

    def to_text(self, language: Language = ENGLISH) -> str:
        """The certificate as text in a language, with what is said about the parties at the end."""
        lines = map(language.tell, _in_words(self.facts["joint"]))
        return super().to_text(language).rstrip("\n") + "\n\n" + "\n".join(lines) + "\n"


def joint_candidate(study: Study, opened: OpenedRelease) -> Candidate:
    """The candidate that an opened release is, with the figures that the blind search found."""
    facts, plan = opened.facts, study.plan
    try:
        levels = {name: int(facts["levels"][name]) for name in plan.quasi_identifiers}
        node = tuple(levels[name] - plan.minimum_levels[name] for name in plan.quasi_identifiers)
        smallest = facts["smallest_class"]
        best = Evaluation(
            node=node,
            solution=True,
            cost=float(facts["cost"]),
            suppressed=int(facts["suppressed"]),
            classes=int(facts["classes"]),
            smallest_class=None if smallest is None else int(smallest),
        )
        result = SearchResult(
            best=best,
            optimal=bool(facts["optimal"]),
            lower_bound=float("-inf") if facts["lower_bound"] is None else float(facts["lower_bound"]),
            checked=int(facts["checked"]),
            tagged=int(facts["tagged"]),
            heuristic=bool(facts["heuristic"]),
        )
        tops = {name: int(facts["tops"][name]) for name in plan.quasi_identifiers}
        lost = {str(name): int(number) for name, number in facts["lost_values"].items()}
        seconds = {str(phase): float(spent) for phase, spent in facts["seconds"].items()}
        return Candidate(
            plan=plan,
            table=FrameSource(opened.frame),
            node=node,
            result=result,
            rows=int(facts["rows"]),
            hierarchies={name: _hierarchy(study, name, top) for name, top in tops.items()},
            all_starred=bool(facts["all_starred"]),
            seconds=seconds | dict(opened.seconds),
            input_rows=int(facts["rows"]),
            populations=populations_of(plan, opened.population),
            population_hashes={},
            lattice=int(facts["lattice"]),
            losses=tuple(
                ColumnLoss(name, Role.QUASI_IDENTIFYING, number, 0, (), (), 0)
                for name, number in lost.items()
                if number
            ),
            person_notes=plan_note(plan),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise malformed("the figures of the release are incomplete") from None


def _hierarchy(study: Study, name: str, top: int) -> Hierarchy:
    """The hierarchy of the plan if it is the same for every table; otherwise one without values, of as many levels."""
    builder = study.plan.attributes[name].hierarchy
    if builder is not None and builder.independent:
        return builder.build([], attribute=name)
    none = np.empty(0, dtype=np.uint32)
    shares = tuple(np.empty(0) for _ in range(top + 1))
    return Hierarchy((), tuple(none for _ in range(top + 1)), tuple(() for _ in range(top + 1)), shares)


def certified(channel: Channel, study: Study, secrets: Secrets, signer: Signer, opened: OpenedRelease) -> JointRelease:
    """Verify the opened release, let everybody sign its certificate, and hand it to those who get it."""
    candidate = joint_candidate(study, opened)
    content, _, certificate = certified_bytes(candidate, NAME)
    facts = _facts_of(certificate, study, candidate, opened)
    unsigned = _canonical(facts)
    others = [name for name in study.members if name != secrets.name]
    channel.phase = "sign"
    told = {"figures": opened.facts, "seconds": dict(opened.seconds)}
    told |= {} if opened.population is None else {"population": _told(opened.population)}
    message = pack(told, {"content": np.frombuffer(content, dtype=np.uint8)})
    signed = [{"name": secrets.name, "certificate": signer.certificate, "signature": signer.sign(unsigned)}]
    for name in others:
        channel.send(name, "certificate", unsigned)
        if name in study.receivers:
            channel.send(name, "result", secrets.seal(message, about="result"))
    for name in others:
        entry = {**as_facts(channel.receive(name, "signature")), "name": name}
        _refuse_signature(entry, signer, unsigned)
        signed.append(entry)
    facts["joint"] = {**facts["joint"], "signatures": signed}
    for name in study.receivers:
        if name != secrets.name:
            channel.send(name, "signed", secrets.seal(json.dumps(facts).encode(), about="signed"))
    return JointRelease(content, JointCertificate(facts), study)


def countersigned(
    channel: Channel, study: Study, signer: Signer, known: Known, secrets: Secrets | None = None
) -> JointRelease | None:
    """Sign the certificate of a release that another party opened; return the release if this party gets it.

    What the certificate says is compared with what this member knows, and, if it gets the release, with the release,
    which it verifies itself. The release is returned when everybody has signed.
    """
    unsigned = channel.receive(study.finisher, "certificate")
    channel.phase = "sign"
    facts = as_facts(unsigned)
    known.refuse_other(facts, study)
    received = None if secrets is None or secrets.name not in study.receivers else _received(channel, study, secrets)
    if received is not None:
        _compare(received, facts, study)
    own = {"certificate": signer.certificate, "signature": signer.sign(unsigned)}
    channel.send(study.finisher, "signature", json.dumps(own).encode())
    if received is None or secrets is None:
        return None
    signed = as_facts(secrets.open(channel.receive(study.finisher, "signed"), about="signed"))
    refuse_unsigned(study, signed, signer, unsigned)
    return JointRelease(received.content, JointCertificate(signed), study)


@dataclass(frozen=True, eq=False)
class _Received:
    """The file of a release as bytes, as it was read, and what was opened."""

    content: bytes = field(repr=False)
    read: Written = field(repr=False)
    opened: OpenedRelease


def _received(channel: Channel, study: Study, secrets: Secrets) -> _Received:
    """The release, with its figures and the population that it is verified with if it is a subset."""
    head, arrays = unpack(secrets.open(channel.receive(study.finisher, "result"), about="result"))
    content, figures, seconds = arrays.get("content"), head.get("figures"), head.get("seconds")
    if content is None or not isinstance(figures, dict) or not isinstance(seconds, dict):
        raise malformed("it is not a release")
    population = None if study.plan.subset is None else _population(head.get("population"), study)
    file, quoted = _parsed(content.tobytes(), study)
    opened = OpenedRelease(file.frame, figures, seconds, population)
    return _Received(content.tobytes(), Written(FrameSource(file.frame), file.sha256, quoted), opened)


def _compare(received: _Received, facts: Mapping[str, Any], study: Study) -> None:
    """Verify the release, certify it again, and refuse a certificate that says something else about it."""
    opened = received.opened
    candidate = joint_candidate(study, opened)
    release, certificate = certified_again(candidate, received.read, NAME)
    refuse_other_release(facts, received.read.sha256, opened.frame, release.verification, study.plan)
    refuse_other_words(facts, _facts_of(certificate, study, candidate, opened))


def _facts_of(certificate: Certificate, study: Study, candidate: Candidate, opened: OpenedRelease) -> dict[str, Any]:
    """What the certificate of a release says before anybody has signed it."""
    joint = _statement(study, candidate.seconds, opened.facts)
    facts: dict[str, Any] = {**certificate.facts, "joint": joint}
    if found := dummy_warnings(study, joint.get("dummy_rows")):
        points = [*facts["warnings"], *found]
        facts |= {"warnings": points, "verdict": Verdict(Standing.AMBER, tuple(points)).to_dict()}
    return facts


# Populations, if a subset of the rows is released: counted by the member that computes, and told to those who verify


def populations_of(plan: Plan, population: CountedPopulation | None) -> Populations:
    """The population that a release is verified with, if it is a subset."""
    return {} if plan.subset is None or population is None else {plan.subset.key: population}


def _told(population: CountedPopulation) -> dict[str, object]:
    return {"classes": population.classes.to_dict(as_series=False), "empty_classes": population.empty_classes}


def _population(told: Any, study: Study) -> CountedPopulation:
    schema: dict[str, type[pl.DataType]] = {**dict.fromkeys(study.plan.quasi_identifiers, pl.String), COUNT: pl.Int64}
    try:
        classes = pl.DataFrame({name: told["classes"][name] for name in schema}, schema=schema)
        return CountedPopulation(classes, int(told["empty_classes"]))
    except (KeyError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise malformed("it does not count the people of the population") from None


def refuse_unsigned(study: Study, facts: Mapping[str, Any], signer: Signer, unsigned: bytes) -> None:
    """Refuse a certificate that not everybody signed, or that is not the one that oneself signed."""
    joint = facts.get("joint")
    signatures = joint.get("signatures") if isinstance(joint, dict) else None
    if not isinstance(signatures, list) or unsigned_of(facts) != unsigned:
        raise ProtocolError("the certificate is not the one that was signed", code="party-signature")
    found = {str(entry.get("name")): entry for entry in signatures if isinstance(entry, dict)}
    for name in study.members:
        _refuse_signature(found.get(name, {"name": name}), signer, unsigned)


def _refuse_signature(entry: Mapping[str, Any], signer: Signer, unsigned: bytes) -> None:
    name, certificate, signature = (str(entry.get(key)) for key in ("name", "certificate", "signature"))
    if not signer.check(name, certificate, unsigned, signature):
        raise ProtocolError(f"the signature of {name} is missing or not valid", code="party-signature")


def unsigned_of(facts: Mapping[str, Any]) -> bytes:
    """What was signed: the certificate without its signatures."""
    joint = {key: value for key, value in facts["joint"].items() if key != "signatures"}
    return _canonical({**facts, "joint": joint})


def _canonical(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def _statement(study: Study, seconds: Mapping[str, float], facts: Mapping[str, Any]) -> dict[str, Any]:
    lost = facts.get("lost")
    return {
        **study_facts(study),
        **({"dummy_rows": dummy_facts(facts, study)} if study.dummies else {}),
        "people_not_at_all_parties": dict(lost) if isinstance(lost, dict) else {},
        "seconds": {phase: round(spent, 3) for phase, spent in seconds.items()},
    }


KNOWN_BEFORE = {
    False: "none of them saw a row of another before this release.",
    True: "a rehearsal on one machine, with keys that were made for it and thrown away. "
    "The signatures below are not those of the institutions.",
}
"""What a certificate says about the rows before the release: by whether it was a rehearsal."""


def _in_words(joint: Any) -> list[str]:
    """The statement about the parties, line by line, for a person who does not know the program."""
    parties = [name for name, entry in joint["parties"].items() if entry["role"] == "party"]
    lines = [
        "Joint release",
        f"  Study {joint['study']}, protocol {joint['protocol']}, {joint['distribution']} distribution.",
        f"  Study hash (SHA-256): {joint['study_sha256']}",
        f"  Data of {listed(parties, 'and')}; {KNOWN_BEFORE[joint['rehearsal']]}",
    ]
    lines += [
        f"  {name}: {number:,} rows were left out, because these people are not at all parties."
        for name, number in joint["people_not_at_all_parties"].items()
        if number
    ]
    lines += dummies_in_words(joint.get("dummy_rows"), mirrored=joint["dummies"] == MIRRORED)
    return [*lines, *(f"  Signed by {entry['name']}." for entry in joint.get("signatures", ()))]


def _parsed(content: bytes, study: Study) -> tuple[TableFile, FormulaCells]:
    """The file of a release, and the cells that have an apostrophe in it."""
    return without_quotes(parse_table(content, Path(NAME), separator=","), study.plan.formulas)


__all__: Sequence[str] = ("JointCertificate", "JointRelease", "Signer", "certified", "countersigned", "unsigned_of")
