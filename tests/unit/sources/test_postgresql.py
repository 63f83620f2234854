"""From a table in PostgreSQL to a verified release in the same database, in one transaction."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.cli.main import main
from kohorte.errors import EngineError, InputError, KohorteError
from kohorte.models import KAnonymity
from kohorte.release import find_candidate
from kohorte.release.sinks.database import write_to_database
from kohorte.sources import PostgresqlSource
from kohorte.sources.postgresql_session import Address
from support.postgres import cluster
from support.source_problems import connected, store

PLAN = """
kohorte: 1
attributes:
  name: {role: identifying}
  zip: {role: quasi-identifying}
  sex: {role: quasi-identifying}
  icd: {role: sensitive}
models: [{model: k-anonymity, k: 3}]
suppression_limit: 0.2
person: none
"""
ROWS = 200


@pytest.fixture
def database(pytestconfig: pytest.Config) -> Iterator[str]:
    with cluster(pytestconfig).database() as address:
        rows = range(ROWS)
        frame = pl.DataFrame(
            {
                "name": [f"canary-{row}" for row in rows],
                "zip": [81667 + row % 5 for row in rows],
                "sex": ["mf"[row % 2] for row in rows],
                "icd": [f"I{row % 7}" for row in rows],
            }
        )
        store(frame, address, "patients")
        yield address


def at(database: str, table: str) -> str:
    base, _, options = database.partition("?")
    return f"{base}/{table}?{options}"


def tables(database: str) -> list[str]:
    """The tables that everybody sees, and temporary ones of sessions that still run."""
    with connected(database) as connection:
        found = connection.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace >= 2200")
        return sorted(name for (name,) in found if not name.startswith(("pg_", "sql_")))


def plan() -> ko.Plan:
    roles = {"name": "identifying", "zip": "quasi-identifying", "sex": "quasi-identifying", "icd": "sensitive"}
    return ko.Plan({name: ko.Attribute(role) for name, role in roles.items()}, [KAnonymity(3)], suppression_limit=0.2)


def released(database: str, output: str = "release", **options: Any) -> None:
    source = PostgresqlSource(at(database, "patients"))
    write_to_database(find_candidate(source, plan()), at(database, output), source=source, **options)


def test_a_release_and_its_certificate_are_tables_of_the_database(database: str) -> None:
    released(database)
    assert tables(database) == ["patients", "release", "release_certificate"]
    with connected(database) as connection:
        columns = [one.name for one in connection.execute("SELECT * FROM release").description or ()]
        facts = json.loads(connection.execute("SELECT json FROM release_certificate").fetchone()[0])  # type: ignore[index]
    assert columns == ["zip", "sex", "icd"]
    assert facts["output"]["name"] == "public.release"
    again = PostgresqlSource(at(database, "release"))
    assert facts["output"]["sha256"] == again.sha256
    again.session.close()


def test_the_hash_of_a_table_does_not_depend_on_the_order_of_its_rows(database: str) -> None:
    with connected(database) as connection:
        connection.execute("CREATE TABLE other AS SELECT * FROM patients ORDER BY name DESC")
        connection.execute("CREATE TABLE less AS SELECT * FROM patients OFFSET 1")
    sources = [PostgresqlSource(at(database, name)) for name in ("patients", "other", "less")]
    hashes = [source.sha256 for source in sources]
    for source in sources:
        source.session.close()
    assert hashes[0] == hashes[1] != hashes[2]


def test_rows_that_others_change_meanwhile_do_not_change_the_release(database: str) -> None:
    source = PostgresqlSource(at(database, "patients"))
    candidate = find_candidate(source, plan())
    with connected(database) as connection:
        connection.execute("INSERT INTO patients VALUES ('late', 1, 'm', 'I1')")
    write_to_database(candidate, at(database, "release"), source=source)
    with connected(database) as connection:
        assert connection.execute("SELECT count(*) FROM release").fetchone() == (ROWS,)


def test_a_query_is_released(database: str) -> None:
    source = PostgresqlSource(database, query="SELECT name, zip, sex, icd FROM patients WHERE zip < 81670 -- three")
    write_to_database(find_candidate(source, plan()), at(database, "release"), source=source)
    with connected(database) as connection:
        assert connection.execute("SELECT count(*) FROM release").fetchone() == (ROWS * 3 // 5,)


@pytest.mark.parametrize("query", ["SELECT 1 AS a) q; COMMIT; SELECT (1", "DROP TABLE patients", "SELECT FROM WHERE"])
def test_a_query_is_one_query(database: str, query: str) -> None:
    with pytest.raises(KohorteError) as caught:
        PostgresqlSource(database, query=query)
    assert caught.value.code in ("database-query", "source-failed")
    assert tables(database) == ["patients"]


@pytest.mark.parametrize(
    "address",
    ["postgresql://u:canary@h/d/t", "postgresql://u@h/d/t?password=canary", "postgresql://u@h/d/t?sslpassword=canary"],
)
def test_a_password_in_an_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(InputError) as caught:
        PostgresqlSource(address)
    assert caught.value.code == "database-password"
    assert "canary" not in caught.value.message


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://h",
        "postgresql://h/",
        "postgresql://h/d/a/b",
        "postgresql://h/d/a.b.c",
        "postgresql://h:x/d/t",
        "d/t",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(InputError) as caught:
        Address.parse(address)
    assert caught.value.code == "database-address"


def test_names_in_an_address_can_be_quoted() -> None:
    parsed = Address.parse("postgres://u@/my%20db/a%2Eb.c%2Fd?host=/tmp/x")
    assert (parsed.schema, parsed.table) == ("a.b", "c/d")
    assert parsed.database == "postgresql://u@/my%20db?host=%2Ftmp%2Fx"
    assert "u@" not in repr(parsed)


def test_a_database_that_is_not_there_is_told_without_its_address(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        PostgresqlSource(f"postgresql://canary@/canary/t?host={tmp_path}")
    assert caught.value.code == "database-unreachable"
    assert "canary" not in caught.value.message


def test_a_table_that_is_not_there_is_refused(database: str) -> None:
    for name in ("nothing", "public.nothing", "nowhere.nothing"):
        with pytest.raises(InputError) as caught:
            PostgresqlSource(at(database, name))
        assert caught.value.code == "database-table"


def test_an_output_that_exists_is_replaced_with_force_only(database: str) -> None:
    released(database)
    with pytest.raises(InputError) as caught:
        released(database)
    assert caught.value.code == "output-exists"
    released(database, force=True)
    with pytest.raises(InputError) as caught:
        released(database, "patients", force=True)
    assert caught.value.code == "output-is-input"


def test_input_and_output_are_in_one_database(database: str) -> None:
    source = PostgresqlSource(at(database, "patients"))
    for output in ("postgresql:///other/release", "release.csv"):
        with pytest.raises(InputError) as caught:
            write_to_database(find_candidate(source, plan()), output, source=source)
        assert caught.value.code == "output-elsewhere"


def test_an_order_that_a_table_does_not_have_is_refused(database: str) -> None:
    source = PostgresqlSource(at(database, "patients"))
    kept = ko.Plan(plan().attributes, [KAnonymity(3)], order="input", suppression_limit=0.2)
    with pytest.raises(InputError) as caught:
        write_to_database(find_candidate(source, kept), at(database, "release"), source=source)
    assert caught.value.code == "source-no-order"


def test_a_release_that_fails_leaves_the_old_one(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    released(database)
    with connected(database) as connection:
        before = connection.execute("SELECT json FROM release_certificate").fetchone()

    def fail(*_: object, **__: object) -> None:
        raise EngineError("failed", code="source-failed")

    monkeypatch.setattr("kohorte.release.write.certify", fail)
    with pytest.raises(EngineError):
        released(database, force=True)
    assert tables(database) == ["patients", "release", "release_certificate"]
    with connected(database) as connection:
        assert connection.execute("SELECT json FROM release_certificate").fetchone() == before


def test_a_lost_connection_leaves_nothing(database: str) -> None:
    source = PostgresqlSource(at(database, "patients"))
    candidate = find_candidate(source, plan())
    with connected(database) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    with pytest.raises(EngineError) as caught:
        write_to_database(candidate, at(database, "release"), source=source)
    assert caught.value.code == "database-lost"
    assert tables(database) == ["patients"]


def test_no_space_is_told_as_such_and_leaves_nothing(database: str) -> None:
    with connected(database) as connection:
        connection.execute("CREATE TABLE many AS SELECT p.* FROM patients p, generate_series(1, 300)")
    source = PostgresqlSource(at(database, "many"))
    candidate = find_candidate(source, plan())
    source.session.run("SET LOCAL work_mem = '64kB'")
    source.session.run("SET LOCAL temp_file_limit = '64kB'")  # as if the disk were full
    with pytest.raises(EngineError) as caught:
        write_to_database(candidate, at(database, "release"), source=source)
    assert caught.value.code == "disk-full"
    assert tables(database) == ["many", "patients"]


def test_the_rights_in_the_manual_suffice_and_each_is_needed(database: str, pytestconfig: pytest.Config) -> None:
    role, name = f"least_{os.getpid()}", database.split("/")[3].split("?")[0]
    rights = {
        f"TEMPORARY ON DATABASE {name}": "database-rights",
        "SELECT ON patients": "database-rights",
        "CREATE ON SCHEMA shared": "database-rights",
        "USAGE ON SCHEMA shared": "database-rights",
    }
    server = cluster(pytestconfig)
    with connected(database) as connection:
        connection.execute(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC; CREATE SCHEMA shared; CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT CONNECT ON DATABASE {name} TO {role}")
        for right in rights:
            connection.execute(f"GRANT {right} TO {role}")
    own = database.replace("kohorte@", f"{role}@")
    try:
        for right, code in rights.items():
            server.execute(f"REVOKE {right} FROM {role}", name)
            with pytest.raises(KohorteError) as caught:
                released(own, "shared.release")
            assert caught.value.code == code, right
            server.execute(f"GRANT {right} TO {role}", name)
        released(own, "shared.release")
    finally:
        server.execute(f"DROP OWNED BY {role}", name)
        server.execute(f"DROP ROLE {role}", name)


def test_types_that_are_not_supported_are_refused(database: str) -> None:
    with connected(database) as connection:
        connection.execute("CREATE TABLE odd (a int[], b timestamptz, c text)")
    with pytest.raises(InputError, match=r"'a', 'b'") as caught:
        PostgresqlSource(at(database, "odd"))
    assert caught.value.code == "table-column-type"


def test_values_that_count_as_equal_are_written_alike(database: str) -> None:
    with connected(database) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS citext")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute("CREATE TABLE odd (q numeric, f real, c char(4), m mood, t citext)")
        connection.execute(
            "INSERT INTO odd VALUES (1.0, '-0', 'a', 'sad', 'x'), (1.00, 0, 'a  ', 'sad', 'X'), "
            "('NaN', 'NaN', '', 'glad', 'x'), (NULL, NULL, NULL, 'glad', 'x')"
        )
    source = PostgresqlSource(at(database, "odd"))
    assert sorted(source.count_shown(["q", "f", "c", "m"]).rows(), key=str) == [
        ("1", "0", "a", "sad", 2),
        (None, None, None, "glad", 2),
    ]
    assert sorted(source.count_shown(["t"]).rows()) == [("X", 1), ("x", 3)]
    source.session.close()


def run(database: str, folder: Path, *options: str, output: str = "release") -> list[str]:
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return [
        "anonymize",
        at(database, "patients"),
        "--plan",
        str(folder / "plan.yaml"),
        "--output",
        at(database, output),
        *options,
    ]


def test_the_command_releases_a_table_and_shows_no_credential(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "canary-password")
    assert main(run(database, tmp_path)) == 0
    told = "".join(capsys.readouterr())
    assert "written and verified: release; certificate: release_certificate" in told
    assert tables(database) == ["patients", "release", "release_certificate"]
    with connected(database) as connection:
        told += str(connection.execute("SELECT * FROM release_certificate").fetchall())
    assert "canary" not in told
    assert "kohorte@" not in told
    assert main(run(database, tmp_path)) == 2
    assert "[output-exists]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--engine", "duckdb"], "database-address"),
        (["--algorithm", "mondrian"], "source-row-by-row"),
        (["--report", "report.html"], "source-row-by-row"),
    ],
)
def test_options_that_need_the_rows_are_refused(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str
) -> None:
    assert main(run(database, tmp_path, *options)) == 2
    assert f"[{code}]" in capsys.readouterr().err


def _one(database: str, query: str) -> object:
    with connected(database) as connection:
        row = connection.execute(query).fetchone()
        return None if row is None else row[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_ended_in_the_middle_leaves_nothing(database: str, tmp_path: Path, number: int) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with connected(database) as connection:
        connection.execute("LOCK TABLE patients IN ACCESS EXCLUSIVE MODE")
        command = [str(Path(sys.executable).parent / "kohorte"), *run(database, tmp_path)]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        while _one(database, waiting) != 1:  # by a new transaction, which sees the present
            assert time.monotonic() < end
            time.sleep(0.05)
        running.send_signal(number)
        _, told = running.communicate(timeout=60)
    assert b"Traceback" not in told
    assert running.returncode != 0
    while len(tables(database)) > 1:
        assert time.monotonic() < end
    assert tables(database) == ["patients"]


def test_verify_and_lattice_count_a_table_where_it_is(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    released(database)
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    files = {}
    for table in ("patients", "release"):
        with connected(database) as connection:
            found = connection.execute(f"SELECT * FROM {table}")
            names = [one.name for one in found.description or ()]
            frame = pl.DataFrame(found.fetchall(), schema=names, orient="row")
        files[table] = tmp_path / f"{table}.parquet"
        frame.write_parquet(files[table])
    for verb, table, code in (("verify", "release", 0), ("verify", "patients", 1), ("lattice", "patients", 0)):
        given = ("--plan", str(tmp_path / "plan.yaml"), "--json")
        answers = []
        for data in (at(database, table), str(files[table])):
            assert main([verb, data, *given]) == code
            answers.append(json.loads(capsys.readouterr().out))
        assert answers[0] == answers[1]
    assert tables(database) == ["patients", "release", "release_certificate"]
