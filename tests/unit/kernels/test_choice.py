import os
import subprocess
import sys

import pytest

import kohorte.kernels as chosen

ASK = "from kohorte.kernels import KERNELS, COMPILED_KERNELS_ARE_MISSING as m; print(KERNELS, m)"


def run(setting):
    environment = {**os.environ, "KOHORTE_KERNELS": setting}
    return subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True)


def test_the_suite_runs_on_the_kernels_that_were_asked_for():
    wanted = os.environ.get("KOHORTE_KERNELS")
    assert (wanted or chosen.KERNELS) == chosen.KERNELS
    assert chosen.Grouper.__module__.endswith("_native" if chosen.KERNELS == "native" else "reference")


def test_reference_kernels_that_were_asked_for_are_not_reported_as_missing():
    assert run("reference").stdout.split() == ["reference", "False"]


def test_native_kernels_are_used_or_refused_but_never_replaced():
    finished = run("native")
    assert finished.stdout.split() == ["native", "False"] or "has no compiled kernels" in finished.stderr


@pytest.mark.parametrize("setting", ["rust", "Native", " "])
def test_unknown_kernels_are_refused(setting):
    finished = run(setting)
    assert finished.returncode != 0
    assert "must be 'native' or 'reference'" in finished.stderr
