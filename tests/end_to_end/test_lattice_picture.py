"""`kohorte lattice --picture`: the file that a data steward opens."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

Run = Callable[..., Any]
Snapshot = Callable[..., Any]
BASE = ("lattice", "patients.csv", "--plan", "plan.yaml")


@pytest.mark.parametrize("name", ["out.html", "out.svg", "out.HTM"])
def test_the_picture_shows_every_node_and_no_value(hospital: Path, run: Run, name: str) -> None:
    ran = run(*BASE, "--picture", name)
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out.splitlines()[-1] == f"picture: {name}"
    text = (hospital / name).read_text(encoding="utf-8")
    assert len(re.findall('<g class="node"', text)) == 12
    assert "Optimum: zip: first 4 characters (1 of 5); sex: as it is (0 of 1); " in text
    assert "k-anonymity (k = 2)" in text
    for value in ("81667", "8166", "81671", "10115", "flu", "Uta", "Schnupfen"):
        assert value not in text
    if name.endswith(".svg"):
        ET.fromstring(text)
    else:
        assert "The models and the smallest class count rows." in text


def test_the_picture_agrees_with_the_list_of_all_nodes(hospital: Path, run: Run) -> None:
    facts = run(*BASE, "--picture", "out.svg", "--json").json
    titles = re.findall(r"<title>(zip: [^;<]*; sex: [^:<]*): ([^<]*)</title>", (hospital / "out.svg").read_text())
    verdicts = dict(titles)
    assert len(verdicts) == len(facts["nodes"]) == 12
    for node in facts["nodes"]:
        zip_level, sex_level = node["levels"]
        zips, sexes = facts["levels_in_words"]
        text = verdicts[f"zip: {zips[zip_level]}; sex: {sexes[sex_level]}"]
        assert text.startswith("not a solution") != node["anonymous"]
        assert f"{node['suppressed']} row" in text
        assert text.startswith("the optimum") == (node["levels"] == facts["best"])


def test_the_same_command_writes_the_same_bytes(hospital: Path, run: Run) -> None:
    for name in ("a.html", "b.html"):
        assert run(*BASE, "--picture", name).code == 0
    assert (hospital / "a.html").read_bytes() == (hospital / "b.html").read_bytes()


def test_an_existing_picture_is_replaced_only_by_force(hospital: Path, run: Run) -> None:
    (hospital / "out.svg").write_text("precious")
    ran = run(*BASE, "--picture", "out.svg")
    assert ran.code == 2
    assert "[output-exists]" in ran.err
    assert (hospital / "out.svg").read_text() == "precious"
    assert run(*BASE, "--picture", "out.svg", "--force").code == 0
    assert (hospital / "out.svg").read_text().startswith("<?xml")


def test_a_file_that_is_read_is_never_replaced(hospital: Path, run: Run, snapshot: Snapshot) -> None:
    text = (hospital / "plan.yaml").read_text().replace("{redaction: {}}", "{csv: zip.html}")
    (hospital / "plan.html").write_text(text)
    (hospital / "zip.html").write_text("81667;8;*\n81671;8;*\n81672;8;*\n10115;1;*\n")
    (hospital / "data.svg").symlink_to("patients.csv")
    before = snapshot(hospital)
    for picture in ("plan.html", "zip.html", "data.svg"):
        ran = run("lattice", "patients.csv", "--plan", "plan.html", "--picture", picture, "--force")
        assert ran.code == 2
        assert "[output-is-input]" in ran.err
    assert snapshot(hospital) == before


@pytest.mark.parametrize("name", ["out.png", "out", "svg", "out.html.csv"])
def test_another_kind_of_picture_is_refused_before_any_work(
    hospital: Path, run: Run, snapshot: Snapshot, name: str
) -> None:
    before = snapshot(hospital)
    ran = run("lattice", "absent.csv", "--plan", "plan.yaml", "--picture", name)
    assert ran.code == 2
    assert "[picture-format]" in ran.err
    assert snapshot(hospital) == before


def test_a_folder_that_is_not_there_is_refused_before_any_work(hospital: Path, run: Run) -> None:
    ran = run("lattice", "absent.csv", "--plan", "plan.yaml", "--picture", "nowhere/out.svg")
    assert ran.code == 2
    assert "[output-folder-missing]" in ran.err


def test_without_a_solution_there_is_a_picture_that_says_so(hospital: Path, run: Run) -> None:
    (hospital / "gaps.csv").write_text("name,zip,sex,diagnosis\na,,f,x\nb,1,f,x\nc,1,f,x\n")
    (hospital / "plan.yaml").write_text((hospital / "plan.yaml").read_text() + "missing: suppress\n")
    ran = run("lattice", "gaps.csv", "--plan", "plan.yaml", "--picture", "out.html")
    assert ran.code == 1
    text = (hospital / "out.html").read_text(encoding="utf-8")
    assert "No combination of levels satisfies the plan" in text
    assert "1 row would have to be suppressed (limit 0)" in text


def test_names_of_columns_are_escaped(folder: Path, run: Run) -> None:
    (folder / "t.csv").write_text('<i>&amp;,"a""b\'"\n1,2\n1,2\n')
    (folder / "plan.yaml").write_text(
        "kohorte: 1\nattributes:\n  '<i>&amp;': {role: quasi-identifying}\n  'a\"b''': {role: quasi-identifying}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    for name in ("out.svg", "out.html"):
        assert run("lattice", "t.csv", "--plan", "plan.yaml", "--picture", name).code == 0
        text = (folder / name).read_text(encoding="utf-8")
        assert "<i>" not in text
        assert "&lt;i&gt;&amp;amp;: as it is (0 of 1)" in text
        assert "a&#34;b&#39;" in text
    root = ET.fromstring((folder / "out.svg").read_text(encoding="utf-8"))
    assert any("<i>&amp;" in "".join(item.itertext()) for item in root.iter("{http://www.w3.org/2000/svg}text"))
