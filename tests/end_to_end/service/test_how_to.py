"""docs/how-to/run-the-service.md, followed word by word against a running service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.running import running

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
JSON = re.findall(r"^```json\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_commands_of_the_how_to_work_as_written(tmp_path: Path) -> None:
    started, set_up, story, rotate, back_up, restore, confirm = SHELL
    assert started.strip() == "kohorte serve --folder service"
    for name, text in zip(("release.json", "questions.json"), JSON, strict=True):
        (tmp_path / name).write_text(text)
    with running(tmp_path / "service") as service:
        set_up, story = (
            part.replace("http://127.0.0.1:8470", service.url)
            .replace("curl -s ", "curl ")
            .replace("curl ", "curl -sS --fail-with-body ")
            for part in (set_up, story)
        )
        assert '"query_result"' in run_script(tmp_path, set_up + story)
        assert len((tmp_path / "release.csv").read_text().splitlines()) == 501
        (tmp_path / "elsewhere").mkdir()
        rotated = run_script(tmp_path, rotate)
        assert "were sealed again" in rotated
        assert "being replaced" not in rotated
        assert "without key" in run_script(tmp_path, back_up)
        sign_in = story[story.index("api=") : story.index("curl", story.index("access_token"))]
        query = story[story.rindex("curl") :].replace("AVG(age)", "COUNT(age)")
        copy = "cp service/spent.log service/state.log elsewhere/"
        assert '"query_result"' in run_script(tmp_path, f"{sign_in}\n{query}\n{copy}")
    restored = run_script(tmp_path, restore)
    assert "spendings after the backup, entered from spent.log: 1\n" in restored
    assert "the log is whole" in restored
    (tmp_path / "restored" / "spent.log").unlink()
    assert "a new spent.log begins" in run_script(tmp_path, confirm)


def run_script(folder: Path, script: str) -> str:
    """Run commands as a person would who stops at the first error; return what they print."""
    kohorte = f'kohorte() {{ {sys.executable} -m kohorte.cli.main "$@"; }}'
    command = ["/bin/bash", "-c", f"set -eu\n{kohorte}\n{script}"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return ran.stdout
