"""What the command line can do with domains, patients, pseudonyms and the way back, the interface can do, too.

Every action of the command has an operation, and every option a member of its body; what has none is listed here with
the reason. A new action or option fails these tests until it is in one of the two lists.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from kohorte.service.permissions import RULES
from kohorte.service.settings import Settings
from kohorte.service.web.app import create_app

ROOT = Path(__file__).parents[2]
VERBS = ("domain", "patients", "pseudonymize", "reidentify", "envelope")
OPERATIONS = {
    "domain create": ["create_domain"],
    "domain list": ["list_domains", "show_domain"],
    "domain rotate-key": ["rotate_domain_key"],
    "domain forget": ["forget_pseudonyms"],
    "domain destroy-key": ["destroy_domain_key"],
    "patients register": ["register_patients"],
    "patients match": ["list_cases", "show_case"],
    "patients decide": ["decide_case"],
    "patients split": ["split_patient"],
    "patients merge": ["merge_patients"],
    "patients history": ["show_patient_history"],
    "patients forget": ["forget_patient"],
    "patients rotate-key": ["rotate_patients_key"],
    "patients encode": ["encode_patients", "look_up_encoded"],
    "patients compare": ["compare_lists"],
    "patients temp-id issue": ["issue_temp_ids"],
    "patients temp-id resolve": ["resolve_temp_ids"],
    "patients consent give": ["give_consent"],
    "patients consent withdraw": ["withdraw_consent"],
    "patients consent show": ["show_consents"],
    "patients consent released": ["list_released"],
    "patients consent confirm": ["confirm_export"],
    "patients consent filter": ["export_patients", "confirm_export"],
    "patients consent list": ["export_patients"],
    "pseudonymize": ["pseudonymize"],
    "reidentify request": ["ask_way_back", "ask_people"],
    "reidentify approve": ["approve_way_back", "approve_people"],
    "reidentify decline": ["decline_way_back", "decline_people"],
    "reidentify show": ["reveal_way_back", "reveal_people"],
    "reidentify list": ["list_way_back", "list_people", "show_way_back", "show_people"],
    "reidentify notices": ["read_way_back_notices", "read_people_notices"],
    "reidentify add-person": ["create_user"],
    "reidentify remove-person": ["delete_user"],
    "reidentify people": ["list_users"],
}
"""The operations that do what an action does."""
SAME = {
    "pid": ("pid", "pids"),
    "pseudonym": ("pseudonyms",),
    "record": ("records",),
    "purpose": ("purpose", "purposes"),
    "category": ("categories",),
    "case": ("number",),
    "show": ("number",),
    "target": ("recipient",),
    "data": ("people", "temp_ids", "pids", "originals"),
    "keep": ("ids",),
    "with_table": ("rows",),
    "with_column": ("column",),
    "shift_dates": ("dates",),
    "domain": ("domain", "name"),
    "patients": ("pids",),
    "role": ("roles",),
    "name": ("name", "user_id"),
}
"""The members or parts of the address that mean the same as an option with another name."""
ABOUT_THE_CALL = {"folder", "json", "quiet", "person", "password_stdin"}
"""Where the keys are, who calls, and how the answer looks: the service knows it."""
ABOUT_FILES = {"output", "force", "separator", "encoding", "file", "column"}
"""How files are read and written: bodies and answers have no file."""
EXCEPTIONS = {
    "envelope keys": "keys are made where they stay",
    "envelope seal": "the source seals, so that no service sees medical data; the way back seals with `recipient`",
    "envelope open": "the recipient opens; a private key is never sent to a service",
    "domain forget --dry-run": "whether a pseudonym is in the list is not told",
    "domain destroy-key --dry-run": "GET /domains/{name} shows the versions",
    "domain forget --yes": "with `forget_pseudonyms` in `two_people` a second person confirms",
    "domain destroy-key --yes": "the name is repeated in the body",
    "patients register --field": "the body names the fields",
    "patients decide --show": "GET /patients/cases/{number} shows the case",
    "patients decide --dry-run": "GET /patients/cases/{number} names both PIDs",
    "patients forget --yes": "with `forget_patient` in `two_people` a second person confirms",
    "patients forget --dry-run": "POST /patients/history counts the records",
    "patients temp-id resolve --target": "TempIDs are for the account that calls",
    "patients consent show --fhir": "the answer has the resources",
    "pseudonymize --rules": "whole resources are pseudonymized on the command line, with a rule file; the operations "
    "of gPAS and Vfps answer FHIR clients",
    "pseudonymize --dry-run": "belongs to --rules",
    "pseudonymize --only": "the client sends the texts that it wants",
    "pseudonymize --drop": "the client sends no other columns",
}
"""What the command line has and the interface has not, and why."""


class _Opened:
    """As much of a service as making its application needs."""

    settings = Settings(Path())


def actions(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """All actions of a verb, with those below."""
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not below:
        yield name, parser
    for group in below:
        for word, other in group.choices.items():
            yield from actions(other, f"{name} {word}")


@cache
def every_action() -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for verb in VERBS:
        parser = argparse.ArgumentParser()
        import_module(f"kohorte.cli.verbs.{verb}").add_options(parser)
        found |= dict(actions(parser, verb))
    return found


@cache
def members() -> dict[str, set[str]]:
    """The members of the body and the parts of the address of each operation."""
    described = create_app(cast("Any", _Opened())).openapi()
    schemas = described["components"]["schemas"]
    found = {}
    for operations in described["paths"].values():
        for operation in operations.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            named = [body, *body.get("anyOf", ())]
            bodies = [schemas[one["$ref"].rpartition("/")[2]] for one in named if "$ref" in one]
            found[operation["operationId"]] = {
                *(name for one in bodies for name in one.get("properties", ())),
                *(one["name"] for one in operation.get("parameters", ())),
            }
    return found


def option_of(action: argparse.Action) -> str:
    return "--" + action.dest.replace("_", "-")


def test_every_action_has_an_operation_or_a_reason_why_not() -> None:
    assert set(every_action()) == set(OPERATIONS) | {name for name in EXCEPTIONS if " --" not in name}
    assert [name for names in OPERATIONS.values() for name in names if name not in RULES] == []


def test_every_option_has_a_member_of_the_body_or_a_reason_why_not() -> None:
    missing, used = [], set()
    for name, operations in OPERATIONS.items():
        known = set().union(*(members()[one] for one in operations))
        for option in every_action()[name]._actions:
            written = f"{name} {option_of(option)}"
            if written in EXCEPTIONS:
                used.add(written)
            elif (
                option.dest not in {"help", *ABOUT_THE_CALL, *ABOUT_FILES}
                and not {option.dest, *SAME.get(option.dest, ())} & known
            ):
                missing.append(written)
    assert missing == []
    assert used == {name for name in EXCEPTIONS if " --" in name}  # none that has become wrong


def test_the_page_names_what_only_the_command_line_has() -> None:
    page = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")
    section = page[page.index("Only on the command line") :].split("\n- ")[0]
    for words in ("kohorte envelope", "--rules", "--only", "--drop"):
        assert words in section
