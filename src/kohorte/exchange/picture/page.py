"""The page of a check: the request, the world, the table, what would be sent, and two fields to sign.

The page is for the people of the house. It shows counts and no value of the table but those of the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.checking.verdicts import NO_STATISTICS, Treatment
from kohorte.exchange.contents import WORDS
from kohorte.exchange.request.conditions import condition_from
from kohorte.in_words import count, number, percent
from kohorte.languages import ENGLISH, Kept, Language
from kohorte.pages import Bar, Drawing, Heading, Scale, horizontal_bars, page

STANDING = {"release": "good", "release with changes": "fair", "do not release": "bad"}
FORMS = {"birth": "dates of birth", "date": "dates", "zip": "ZIP codes", "age": "ages"}
"""What the forms of attributes that a policy limits are called."""
NOT_KNOWN = "not known"
PROVEN = "yes: the institution, by its certificate; it answers for the person whom it names"
ACCOUNTS = (
    "Open: the program tells accounts apart, not people. Make sure that the accounts which decide belong to different "
    "people, by their signatures below."
)
NOT_PROVEN = "no: the request came as a file; ask the institution whether it is theirs before you decide"


def to_html(
    record: CheckRecord,
    *,
    number_of_request: int,
    proven: bool = False,
    people_known: bool = False,
    earlier: Sequence[Mapping[str, Any]] = (),
    language: Language = ENGLISH,
) -> str:
    """Return the page of a check; `earlier` are the facts of what the ledger remembers.

    `proven` says whether the request came over the network, with the certificate of the institution, and `people_known`
    whether accounts that one person could use do not count twice. A recommendation is never green if they may, if
    figures are only the small set that comes with Kohorte, or if attributes have no statistics.
    """
    standing = standing_of(record)
    asked = record["request"]["request"]
    advice = record["recommendation"]
    draft, said = record["draft"], told_comparisons(asked["condition"], language)
    return page(
        __package__,
        "check.html.j2",
        language.tell(f"Check of request {number_of_request}"),
        language=language,
        number=number_of_request,
        standing="fair" if standing == "good" and not people_known else standing,
        word=f"Recommendation: {advice['recommendation']}",
        reasons=advice["reasons"],
        request=_request(asked, language, proven=proven),
        policy=_policy(record["request"]["policy"]),
        world=_world(record["global look-up"], said),
        fits=_fits(record["global look-up"].get("fits", ()), said),
        needed=record["global look-up"]["needed_people"],
        local=_local(record["local look-up"]),
        attributes=_attributes(record["local look-up"]["attributes"]),
        verdicts=_verdicts(record["verdicts"]["verdicts"], (draft["draft"] or {}).get("meanings", {}), language),
        draft=_draft(draft["draft"]),
        reason=draft.get("reason", ""),
        risk=_risk(draft, language),
        findings=record["memory"]["words"],
        earlier=[_sent(one, language) for one in earlier],
        fields=["First person", "Second person", *["Further person"] * (record["request"]["policy"]["deciders"] - 2)],
        accounts="" if people_known else ACCOUNTS,
        hash=record.sha256,
        request_hash=record.request_sha256,
        rules=RULES,
    )


RULES = """\
.sign{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr));gap:18px}
.sign div{border:1px solid @edge;border-radius:4px;padding:10px 14px}
.sign .line{border-bottom:1px solid @edge;height:34px}
.open{border-left:4px solid @fair;padding-left:10px}
@media (max-width:600px){.told th,.told td{padding:6px 4px;font-size:13px}
.told thead th{font-size:11px}
.why tr{display:grid;grid-template-columns:1.2fr 1.1fr 1fr 1.2fr;border-bottom:1px solid @edge}
.why th,.why td{border:0;overflow-wrap:anywhere;min-width:0}
.why tr>:last-child{grid-column:1/-1}
.why td:last-child:empty{display:none}}
.hash{overflow-wrap:anywhere;font-family:monospace;font-size:12px}
"""


def told_comparisons(condition: Mapping[str, Any], language: Language) -> dict[str, str]:
    """Return what a record calls each comparison of a condition, with its words in a language."""
    compared = condition_from(condition).comparisons()
    return {one.in_words: one.said_with(language.gettext) for one in compared}


def standing_of(record: CheckRecord) -> str:
    """Return whether a recommendation is good, fair or bad; by figures that nobody knows it is at best fair."""
    found = STANDING[record.recommendation]
    return "fair" if found == "good" and not _is_known(record) else found


def _is_known(record: CheckRecord) -> bool:
    """Whether every attribute that would be sent has statistics, and none are the small set of Kohorte only."""
    sent = [one for one in record["verdicts"]["verdicts"] if one["treatment"] != Treatment.DROP]
    gaps = any(NO_STATISTICS in one["reasons"] for one in sent)
    return not gaps and not record["global look-up"].get("rough")


def _request(asked: Mapping[str, Any], language: Language, *, proven: bool) -> list[tuple[str, str]]:
    requester = asked["requester"]
    return [
        ("who asks", Kept(f"{requester['name']}, {requester['institution']}")),
        ("proven", PROVEN if proven else NOT_PROVEN),
        ("contact", Kept(requester["contact"] or "\u2013")),
        ("purpose", Kept(asked["purpose"])),
        ("attributes", Kept(", ".join(asked["attributes"]))),
        ("condition", Kept(condition_from(asked["condition"]).said_with(language.gettext))),
        ("until", asked["until"]),
    ]


def _policy(policy: Mapping[str, Any]) -> str:
    return f"Policy {policy['name']} ({policy['law']}): k = {policy['k']}, l = {policy['l']}."


def _world(look: Mapping[str, Any], said: Mapping[str, str]) -> list[list[str]]:
    return [
        [
            Kept(said.get(one["comparison"], one["comparison"])),
            NOT_KNOWN if "share" not in one else f"{percent(one['share'])}, 1 in {number(1 / one['share'], 2)}",
            one.get("table") or one.get("gap") or "",
        ]
        for one in look["condition"]
    ]


def _fits(fits: Sequence[Mapping[str, Any]], said: Mapping[str, str]) -> list[list[str]]:
    return [
        [
            Kept(said.get(one["comparison"], one["comparison"])),
            *(one["people"], one["fit"], percent(one["share"]), percent(one["highest"]), one["table"]),
        ]
        for one in fits
    ]


def _local(look: Mapping[str, Any]) -> str:
    one, alone, rows = look["people"] == 1, look["unique_people"], count(look["rows"], "row")
    return (
        f"{count(look['people'], 'person', 'people')} {'satisfies' if one else 'satisfy'} the condition, in "
        f"{rows}; {count(alone, 'person', 'people')} {'has' if alone == 1 else 'have'} a combination "
        "of the requested values that nobody else has."
    )


def _attributes(looks: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    return [
        [name, count(one["values"]), count(one["outstanding_people"]), percent(one["largest_share"])]
        for name, one in looks.items()
    ]


def _verdicts(
    verdicts: Sequence[Mapping[str, Any]], meanings: Mapping[str, str], language: Language
) -> list[list[str]]:
    return [
        [
            *(one["attribute"], Kept(_contained_in(one, language)), one["treatment"]),
            *(_shown(one, meanings), "; ".join(one["reasons"])),
        ]
        for one in verdicts
    ]


def _contained_in(verdict: Mapping[str, Any], language: Language) -> str:
    """What the house says that an attribute contains: a kind of statistics, a system of codes or a unit.

    If it says nothing, what the program has recognised: dates, ZIP codes or ages; otherwise words. Codes and units stay
    as they are in every language.
    """
    content = verdict.get("content") or {}
    stated = content.get("contents") or ""
    if content.get("statistics"):
        return language.gettext(content["statistics"].replace("-", " "))
    if stated not in ("", WORDS):
        return str(stated)
    forms = [FORMS[form] for form in verdict.get("forms") or () if form in FORMS]
    return language.gettext(forms[0] if forms else stated)


def _shown(verdict: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """What would be shown of an attribute, in words; sensitive ones have no level and are shown as they are."""
    sent = bool(meanings) and verdict["treatment"] != Treatment.DROP
    return meanings.get(verdict["attribute"], "the value" if sent else "")


def _draft(draft: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if draft is None:
        return []
    expected = draft["fewest_expected"]
    return [
        ("people", count(draft["people"])),
        ("left out", count(draft["left_out"], "person", "people")),
        ("rows", count(draft["rows"])),
        (
            "classes",
            f"{count(draft['classes'])}, the smallest with {count(draft['smallest_class'], 'person', 'people')}",
        ),
        ("people of the area with the rarest combination", NOT_KNOWN if expected is None else count(expected)),
    ]


def _risk(draft: Mapping[str, Any], language: Language) -> Drawing | None:
    """The highest and the average risk of a person, before and after; None if nothing would be sent."""
    if draft["draft"] is None:
        return None
    before, after = draft["risk_before"], draft["risk_after"]
    shares = [
        ("highest, before", before["highest"]),
        ("highest, after", after["highest"]),
        ("average, before", before["average"]),
        ("average, after", after["average"]),
    ]
    bars = [Bar(language.tell(name), share, percent(share)) for name, share in shares]
    caption = "How likely a person is to be found by somebody who knows one of their rows: 1 / people who look alike."
    heading = Heading("risk", language.tell("Risk of a person"), language.tell(caption))
    return horizontal_bars(heading, bars, scale=Scale(1.0), language=language)


def _sent(facts: Mapping[str, Any], language: Language) -> list[str]:
    return [
        str(facts["number"]),
        language.moment(str(facts["at"])),
        language.tell(str(facts["kind"])),
        facts["recipient"],
        facts["purpose"],
        language.number(facts["people"]),
    ]
