"""Killing the process at any moment leaves the old or the new state, whole, and the next release works."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.data import sha256_of
from support.growing import SETTINGS, patients, plan

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A folder with a series of one release, and the next table."""
    folder = tmp_path / "template"
    folder.mkdir()
    ko.Series.start(folder / "series", plan(), SETTINGS).release(patients(150))
    patients(200).write_parquet(tmp_path / "table.parquet")
    return folder


def seen_after(folder: Path) -> tuple[int, bool]:
    """Check a folder after the end of its process; return how many releases there are, and whether the output is."""
    series = ko.Series.open(folder / "series")
    made = len(series.history)
    assert made in (1, 2)
    assert series.verify(patients(200)).satisfied  # completes what can be completed
    assert list(folder.glob(".*")) == []
    output = folder / "out.csv"
    if made == 1:
        assert not output.exists()
        assert not series.notices
    elif output.exists():
        assert sha256_of(output) == series.history[1].output_sha256
        assert (folder / "out.certificate.json").is_file()
        assert (folder / "out.certificate.txt").is_file()
    else:
        assert "--again 2" in series.notices[0]
        series.again(2, patients(200), output)
        assert sha256_of(output) == series.history[1].output_sha256
    written = output.exists()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.glob("out.*")}
    assert modes <= {stat.S_IMODE((folder / "series" / "series.json").stat().st_mode)}
    assert ko.Series.open(folder / "series").release(patients(300)).number == made + 1
    assert sorted(path.name for path in (folder / "series").iterdir()) == [
        "key",
        "lock",
        f"rows-000{made + 1}.bin",
        "series.json",
    ]
    assert series.verify(patients(300)).satisfied
    return made, written


@pytest.mark.slow
def test_a_process_that_ends_at_any_call_that_changes_a_file_leaves_the_old_or_the_new_series(
    template: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    program = ROOT / "tests" / "support" / "killed_release.py"
    subprocess.run([sys.executable, program, template, tmp_path / "table.parquet", runs], check=True, timeout=300)
    ended = sorted(int(path.name) for path in runs.iterdir())
    assert len(ended) > 20
    found = [seen_after(runs / str(number)) for number in ended]
    made = [releases for releases, _ in found]
    assert made == sorted(made)  # there is one moment at which the release is made
    assert (made[0], made[-1]) == (1, 2)
    assert all(written for releases, written in found if releases == 2)


@pytest.mark.slow
def test_a_process_that_is_killed_after_some_time_leaves_the_old_or_the_new_series(
    template: Path, tmp_path: Path
) -> None:
    code = (
        "import sys, kohorte as ko; from pathlib import Path; here = Path(sys.argv[1]); print('ready', flush=True);"
        "ko.Series.open(here / 'series').release(ko.read_table(sys.argv[2]).frame, here / 'out.csv')"
    )
    for number in range(8):
        folder = tmp_path / str(number)
        shutil.copytree(template, folder)
        child = subprocess.Popen(
            [sys.executable, "-c", code, folder, tmp_path / "table.parquet"], stdout=subprocess.PIPE
        )
        with child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.15 * number)
            child.send_signal(signal.SIGKILL)
        seen_after(folder)


KILLED_AT = {
    "before the state is replaced": "def killed(*_): os.kill(os.getpid(), signal.SIGKILL)",
    "after it": "def killed(*given): write(*given); os.kill(os.getpid(), signal.SIGKILL)",
    "while it is written": "def killed(folder, state):\n"
    "    (folder.path / '.series.json.0123456789abcdef.tmp').write_text('half')\n"
    "    os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.parametrize(("moment", "killed"), KILLED_AT.items())
def test_status_removes_what_a_killed_release_left_in_the_folder(
    template: Path, tmp_path: Path, moment: str, killed: str
) -> None:
    """Outdated records, temporary files: they stayed until the next release."""
    code = (
        "import os, signal, sys\nimport kohorte as ko\nfrom pathlib import Path\n"
        "from kohorte.series.memory.folder import SeriesFolder\nwrite = SeriesFolder.write\n"
        f"{killed}\nSeriesFolder.write = killed\n"
        "ko.Series.open(sys.argv[1]).release(ko.read_table(sys.argv[2]).frame)"
    )
    folder = template / "series"
    child = subprocess.run([sys.executable, "-c", code, folder, tmp_path / "table.parquet"], check=False, timeout=120)
    assert child.returncode == -signal.SIGKILL
    left = {path.name for path in folder.iterdir()}
    assert {"rows-0001.bin", "rows-0002.bin"} <= left
    made = 1 + (moment == "after it")
    for at, table in enumerate((None, patients(300))):
        copy = shutil.copytree(folder, tmp_path / f"copy {at}")
        assert len(ko.Series.open(copy).status(table).releases) == made
        assert sorted(path.name for path in copy.iterdir()) == ["key", "lock", f"rows-000{made}.bin", "series.json"]


def test_copies_of_hierarchy_files_that_a_killed_start_left_are_removed_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "tree.yaml").write_text("left: [a, b]\nright: [c, d]\n", encoding="utf-8")
    entry = {
        "kohorte": 1,
        "attributes": {"letter": {"role": "quasi-identifying", "hierarchy": {"tree": "tree.yaml"}}},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    series = ko.Series.start(tmp_path / "series", ko.Plan.from_dict(entry, folder=tmp_path))
    kept = sorted((tmp_path / "series" / "files").iterdir())
    for name in ("2-other.yaml", ".1-tree.yaml.0123456789abcdef.tmp"):
        (tmp_path / "series" / "files" / name).write_text("left", encoding="utf-8")
    series.status()
    assert len(kept) == 1
    assert sorted((tmp_path / "series" / "files").iterdir()) == kept


def test_an_output_whose_name_was_taken_meanwhile_is_not_replaced_and_can_be_written_again(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kohorte.series import series as module

    series = ko.Series.open(template / "series")
    commit = module.commit

    def with_a_rival(*arguments: object, **options: object) -> object:
        (tmp_path / "out.csv").write_text("mine")
        return commit(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "commit", with_a_rival)
    with pytest.raises(ko.InputError) as refused:
        series.release(patients(200), tmp_path / "out.csv")
    assert refused.value.code == "output-exists"
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert "--again 2" in series.notices[0]
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "table.parquet", "template"]
    assert len(series.history) == 2
    assert series.again(2, patients(200), tmp_path / "other.csv").number == 2
    assert series.release(patients(300)).number == 3
