"""Every test runs: in `make test`, or in `make test-long` when it is marked slow; CI runs both."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hypothesis import settings

from support.examples import FEWEST, THOROUGH, examples

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PYTEST = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]


def recipe(target: str) -> list[str]:
    """The commands of a target of the Makefile, long lines put together."""
    text = MAKEFILE.replace("\\\n", "")
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)
    assert found is not None, target
    return [line.strip() for line in found[1].splitlines()]


def test_both_commands_together_run_every_test_on_the_compiled_kernels() -> None:
    checks, tests, smoke = recipe("test")
    assert checks.endswith(" check native-test postgresql browser")
    once, again = tests.split(" $(ONCE_MORE) ")
    assert once == f"$(PYTEST) {again}" == '$(PYTEST) -m "not slow"'
    assert smoke.endswith(" reference-smoke")
    most, on_spark, _ = recipe("test-long")
    assert most == "$(PYTEST) $(LONG) $(ONCE_MORE) $(LONG)"
    [long] = re.findall(r"^LONG = (.*)$", MAKEFILE, re.MULTILINE)
    assert long == '-m "(slow or hypothesis) and not spark and not exhaustive" --hypothesis-profile thorough'
    assert on_spark == "$(BIN)/python -m pytest -q -m spark $(ON_SPARK)"
    assert recipe("quick") == [once]


def test_a_test_that_fails_twice_fails() -> None:
    [again] = re.findall(r"^ONCE_MORE = (.*)$", MAKEFILE, re.MULTILINE)
    assert again == "|| $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none"


def test_properties_get_a_quarter_of_their_examples_until_the_long_tests() -> None:
    quick, thorough = (settings.get_profile(name).max_examples for name in ("quick", "thorough"))
    assert (quick, thorough) == (THOROUGH // 4, THOROUGH)
    now = settings.default.max_examples
    assert examples(60).max_examples == 60 * now // THOROUGH
    assert examples(1).max_examples == FEWEST


def test_no_setting_leaves_a_test_out() -> None:
    options = re.search(r"^PYTEST = \S+ -m pytest (.*)$", MAKEFILE, re.MULTILINE)
    assert options is not None
    assert not re.search(r"(^| )(-m|-k|--ignore|--deselect)", f"{options[1]} {PYTEST['addopts']}")
    assert PYTEST["testpaths"] == ["tests"]
    assert [marker.partition(":")[0] for marker in PYTEST["markers"]] == ["slow", "spark", "exhaustive"]


def test_the_tests_that_start_spark_are_where_they_are_looked_for() -> None:
    named = re.findall(r"^ON_SPARK = (.*)$", MAKEFILE, re.MULTILINE)[0].split()
    marked = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__) and "mark.spark" in path.read_text("utf-8")
    ]
    assert marked
    assert all(any(path.is_relative_to(ROOT / folder) for folder in named) for path in marked)


def test_the_long_tests_include_the_suite_on_the_numpy_kernels() -> None:
    assert recipe("test-long")[-1].endswith("reference-test")
    [command] = recipe("reference-test")
    assert command.startswith("KOHORTE_KERNELS=reference $(PYTEST)")
    assert command.endswith("$(WITHOUT_KERNELS:%=--ignore tests/%)")
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    left_out = re.findall(r"^WITHOUT_KERNELS = (.*)$", text, re.MULTILINE)[0].split()
    assert all((ROOT / "tests" / folder).is_dir() for folder in left_out)
    parts = [
        ROOT / "src" / "kohorte" / folder.removeprefix("unit/") for folder in left_out if folder.startswith("unit/")
    ]
    users = [path for part in parts for path in part.rglob("*.py") if "kohorte.kernels" in path.read_text("utf-8")]
    assert users == []


def test_what_is_exhaustive_repeats_a_slow_test_for_more_cases() -> None:
    assert recipe("test-exhaustive") == ["$(PYTEST) -m exhaustive"]
    texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    marked = [text for text in texts if "mark.exhaustive" in text]
    assert marked
    assert all("@pytest.mark.exhaustive" not in text and "mark.slow" in text for text in marked)


def test_ci_runs_both() -> None:
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [line for line in commands if line.startswith("make")] == ["make test", "make test-long"]


def test_every_file_with_tests_is_one_that_pytest_collects() -> None:
    modules = [path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_")]
    found = [path for path in modules if re.search(r"^\s*(async )?def test_", path.read_text("utf-8"), re.MULTILINE)]
    assert found == []
