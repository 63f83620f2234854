"""The package installs with and without a C++ compiler."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _wheel(folder: Path, **environment: str) -> list[str]:
    """Build a wheel from a copy of the sources and return the names in it."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    options = ["--config-settings", f"build-dir={folder / 'build'}", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([*command, *options], check=True, capture_output=True, env={**os.environ, **environment}, cwd=folder)
    [wheel] = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    nowhere = str(folder / "no-such-compiler")
    return _wheel(folder, CC=nowhere, CXX=nowhere)


@pytest.mark.slow
def test_without_a_compiler_a_wheel_with_the_numpy_kernels_alone_is_built(without_compiler: list[str]) -> None:
    assert "kohorte/kernels/reference.py" in without_compiler
    assert not any("_native" in name for name in without_compiler)


@pytest.mark.slow
def test_the_wheel_carries_types_hierarchies_of_the_demo_and_the_licence(without_compiler: list[str]) -> None:
    assert "kohorte/py.typed" in without_compiler
    assert "kohorte/__init__.pyi" in without_compiler  # the public names are read from it
    assert "kohorte/cohorts/diagnosis.yaml" in without_compiler
    assert any("LICENSE" in name for name in without_compiler)


@pytest.mark.slow
@pytest.mark.skipif(
    not any((Path(folder) / "c++").exists() for folder in os.get_exec_path()), reason="there is no C++ compiler here"
)
def test_with_a_compiler_the_wheel_has_the_compiled_kernels(tmp_path: Path) -> None:
    assert any("kohorte/kernels/_native" in name for name in _wheel(tmp_path))
