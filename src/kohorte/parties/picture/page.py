"""The picture of a run as one page, which needs no script and no network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from kohorte.in_words import NONE, cost, count, listed, percent, seconds, size
from kohorte.models.words import model_in_words
from kohorte.pages import Drawing, beside, page, refuse_page, write_text
from kohorte.parties.picture.arrows import Arrow, arrows
from kohorte.parties.picture.drawing import NARROW, rules, sequence
from kohorte.parties.picture.kinds import KINDS, PHASES, UNKNOWN
from kohorte.parties.picture.learnt import learnt, leaves_open, source
from kohorte.parties.picture.timeline import Phased, timeline
from kohorte.parties.study import Protocol, Study
from kohorte.parties.transport.messages import Message

PROTOCOLS: Mapping[Protocol, str] = {
    Protocol.A: "A: no helper; every party adds a layer of encryption, and one of them anonymizes",
    Protocol.B: "B: a helper without data anonymizes what the parties encrypted with common keys",
    Protocol.C: "C: as B, with dummy rows and encrypted counters, which hide the sizes of classes from the helper",
}


def write_run_page(
    study: Study, messages: Sequence[Message], figures: Mapping[str, object], path: Path, *, force: bool
) -> None:
    """Write the picture of a run, whole or not at all."""
    refuse_page(path, needed=study.plan.files(), force=force)
    write_text(path, run_page(study, messages, figures), force=force)


def run_page(study: Study, messages: Sequence[Message], figures: Mapping[str, object]) -> str:
    """Return the picture of a run as one self-contained page.

    `figures` are those that the command prints; a figure that is missing is left out. The page shows sizes and times of
    messages, never their contents.
    """
    phased, members = timeline(messages), list(study.members)
    drawn = arrows(phased)
    return page(
        __package__,
        "run.html.j2",
        f"A run of the study {study.name}",
        rules=rules() + beside(__file__, "page.css"),
        study=study,
        agreed=str(figures.get("study_sha256", study.fingerprint())),
        answer=_answer(study, messages, figures),
        computed=_computed(study, figures),
        levels=_levels(figures),
        drawings=_drawings(drawn, members),
        arrows=[(arrow.when, *arrow.ends, arrow.kind, count(arrow.messages), size(arrow.size)) for arrow in drawn],
        by_phase=_by_phase(phased, figures),
        by_pair=_by_pair(phased),
        kinds=[(kind, KINDS.get(kind, UNKNOWN).meaning) for kind in dict.fromkeys(arrow.kind for arrow in drawn)],
        learnt=learnt(study),
        open=leaves_open(study),
        source=source(study),
    )


def _answer(study: Study, messages: Sequence[Message], figures: Mapping[str, object]) -> str:
    parties = count(len(study.parties), "party", "parties")
    who = parties if study.helper is None else f"{parties} and a helper"
    amount = f"{count(len(messages), 'message')}, {size(sum(message.size for message in messages))}"
    elapsed = figures.get("elapsed")
    return f"{who}: {amount}" + (f", {seconds(elapsed)}." if isinstance(elapsed, float) else ".")


def _computed(study: Study, figures: Mapping[str, object]) -> list[tuple[str, str]]:
    """What was computed: the study, and what is known about its release."""
    plan = study.plan
    said = [
        ("study", study.name),
        ("protocol", PROTOCOLS[study.protocol]),
        ("distribution", str(study.distribution)),
        ("parties", listed(list(study.parties))),
        ("the release goes to", listed(list(study.receivers))),
        ("models", ", ".join(model_in_words(model) for model in plan.models)),
        ("suppression limit", percent(plan.suppression_limit)),
    ]
    said += (
        [("dummy rows", "mirrored" if study.mirrored else f"{percent(study.dummies)} of the rows")]
        if study.dummies
        else []
    )
    said += [("counters", str(study.counters))] if study.protocol is Protocol.C else []
    said += [("release", _release(figures))] if "rows" in figures else []
    if "cost" in figures:
        said.append((plan.metric.name, f"{cost(float(str(figures['cost'])))} ({figures.get('quality', NONE)})"))
    return [*said, *_verdict(figures.get("verdict"))]


def _verdict(told: object) -> list[tuple[str, str]]:
    """The verdict on the release with its reasons, as `anonymize` prints it as JSON."""
    if not isinstance(told, Mapping):
        return []
    return [("verdict", "; ".join([str(told.get("standing")), *map(str, told.get("reasons", ()))]))]


def _release(figures: Mapping[str, object]) -> str:
    rows, suppressed, classes = (_whole(figures.get(key)) for key in ("rows", "suppressed", "classes"))
    smallest = _whole(figures.get("smallest_class"))
    words = f"{count(rows, 'row')}, {count(suppressed)} of them suppressed; {count(classes, 'class', 'classes')}"
    return words if smallest is None else f"{words}, the smallest with {count(smallest, 'row')}"


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _levels(figures: Mapping[str, object]) -> list[tuple[str, str]]:
    levels = figures.get("levels_in_words")
    return [(str(name), str(words)) for name, words in levels.items()] if isinstance(levels, Mapping) else []


def _drawings(drawn: Sequence[Arrow], members: Sequence[str]) -> list[tuple[str, Drawing]]:
    """The diagram; if it does not fit on a phone but a narrower one does, both, each for its screen."""
    if not drawn:
        return []
    wide, narrow = sequence(drawn, members), sequence(drawn, members, pitch=NARROW)
    return [("screen", wide), ("phone", narrow)] if wide.scrolls and not narrow.scrolls else [("", wide)]


def _by_phase(phased: Sequence[Phased], figures: Mapping[str, object]) -> list[tuple[str, ...]]:
    """For each phase: its messages, their size, and how long it took at the member that did the work."""
    spent = figures.get("seconds")
    known = {str(phase): float(str(took)) for phase, took in spent.items()} if isinstance(spent, Mapping) else {}
    found: list[tuple[str, ...]] = []
    for phase in PHASES:
        own = [message for its, message in phased if its == phase]
        if own or phase in known:
            amount = size(sum(message.size for message in own))
            found.append((phase, count(len(own)), amount, seconds(known.get(phase))))
    return found


def _by_pair(phased: Sequence[Phased]) -> list[tuple[str, ...]]:
    """For each phase and pair: the messages, their size, and when the first and the last arrived."""
    pairs: dict[tuple[str, str, str], list[Message]] = defaultdict(list)
    for phase, message in phased:
        pairs[phase, message.sender, message.receiver].append(message)
    return [
        (
            phase,
            sender,
            receiver,
            count(len(own)),
            size(sum(message.size for message in own)),
            seconds(min(message.seconds for message in own)),
            seconds(max(message.seconds for message in own)),
        )
        for (phase, sender, receiver), own in pairs.items()
    ]
