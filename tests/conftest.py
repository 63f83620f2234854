"""What all tests share: the import paths, the settings of hypothesis, interrupts, the folder of the public tables."""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from support.examples import THOROUGH  # noqa: E402 - the path comes first

MEMORY, ENOUGH = Path("/dev/shm"), 4 << 30
"""A file system in memory, and the free bytes that all tests together need there at most."""

settings.register_profile("thorough", max_examples=THOROUGH, deadline=None, print_blob=True)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=THOROUGH // 4)
settings.load_profile("quick")

# Most tests write files and force them to disk; in memory that costs nothing. Processes of tests inherit the folder.
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# A shell ignores interrupts for what it runs in the background, and processes inherit that: the tests send some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def benchmark_folder() -> Path:
    """The folder of the public benchmark tables, which are no part of the project."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "reference_optima.json").is_file():
        pytest.skip(f"the benchmark tables are not at {folder}")
    return folder
