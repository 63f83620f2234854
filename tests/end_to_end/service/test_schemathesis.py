"""Schemathesis reads the OpenAPI description of a running service and tries to break every operation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kohorte.service.accounts import users
from kohorte.service.permissions import Role
from kohorte.service.processes.opening import opened
from testbed import patients, story
from testbed.running import PASSWORD, STEWARD, Running, running

SETTINGS = "synchronous_seconds: 5\nrequests_per_minute: 100000000\nlogins_per_minute: 100000000\n"
ENDS_THE_SESSION = ("logout", "delete_user", "change_user")
REFUSED_FOR_MEANING = "positive_data_acceptance"
"""SQL, plans and tables of the right form may still mean nothing that can be done."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("schemathesis") / "service") as service:
        yield service


@contextmanager
def served(folder: Path) -> Iterator[Running]:
    folder.mkdir(mode=0o700)
    (folder / "service.yaml").write_text(SETTINGS)
    with running(folder) as service:
        service.set_up()
        yield service


def found_by_schemathesis(
    server: Running, folder: Path, *options: str, address: str = STEWARD["email_address"]
) -> subprocess.CompletedProcess[str]:
    """Run it as a steward, or as the user with another address, with the same examples every time."""
    with server.signed_in(address) as caller:
        token = caller.headers["Authorization"]
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json"]
    fixed = ("--seed", "1", "--generation-database", "none", "--generation-allow-x00", "false", "--no-color")
    checks = ("--checks", "all", "--exclude-checks", REFUSED_FOR_MEANING, "--warnings", "off")
    return subprocess.run(
        [*command, *fixed, *checks, "--header", f"Authorization: {token}", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.slow
def test_schemathesis_finds_nothing_for_a_steward(server: Running, tmp_path: Path) -> None:
    with server.signed_in() as steward:
        dataset_id, researcher_id = story.dataset(steward, patients.csv(200)), story.researcher(steward)
        for config in (patients.anonymous_config(), patients.interactive_config(1, 1e-6)):
            story.project(steward, dataset_id, researcher_id, config)
    excluded = [option for name in ENDS_THE_SESSION for option in ("--exclude-operation-id", name)]
    found = found_by_schemathesis(server, tmp_path, "--max-examples", "25", *excluded)
    assert found.returncode == 0, found.stdout[-6000:]


@pytest.mark.slow
def test_schemathesis_finds_nothing_where_users_change(tmp_path: Path) -> None:
    included = [option for name in ENDS_THE_SESSION[1:] for option in ("--include-operation-id", name)]
    options = ("--max-examples", "25", "--phases", "coverage,fuzzing", *included)
    with served(tmp_path / "service") as server:  # its own one: nobody may be able to sign in afterwards
        found = found_by_schemathesis(server, tmp_path, *options)
    assert found.returncode == 0, found.stdout[-6000:]


@pytest.mark.slow
def test_schemathesis_finds_nothing_for_somebody_who_keeps_patients_and_pseudonyms(
    server: Running, tmp_path: Path
) -> None:
    roles = (Role.TRUSTEE, Role.APPROVER, Role.DATA_PROTECTION_OFFICER)
    trustee = {"email_address": "tina@example.com", "name": "Tina", "institution": ""}
    with opened(server.folder) as service:  # over HTTP two people would have to
        users.create(service, **trustee, password=PASSWORD, roles=roles, by=None)
    paths = ("--include-path-regex", "^/(api/v1/(patients|domains|way-back)|ttp-fhir|v1/fhir)")
    found = found_by_schemathesis(server, tmp_path, "--max-examples", "25", *paths, address=trustee["email_address"])
    assert found.returncode == 0, found.stdout[-6000:]
