"""docs/how-to/run-the-service.md, followed word by word against a running service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))  # benchmarks are no part of the package
from benchmarks.service.running import running  # noqa: E402

PAGE = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
JSON = re.findall(r"^```json\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_commands_of_the_how_to_work_as_written(tmp_path: Path) -> None:
    started, set_up, story = SHELL[:3]
    assert started.strip() == "kohorte serve --folder service"
    for name, text in zip(("release.json", "questions.json"), JSON, strict=True):
        (tmp_path / name).write_text(text)
    with running(tmp_path / "service") as service:
        script = f"set -eu\n{set_up}\n{story}".replace("http://127.0.0.1:8470", service.url)
        script = script.replace("THE-TOKEN", service.setup_token).replace("curl ", "curl -sS --fail-with-body ")
        script = script.replace("curl -sS --fail-with-body -s ", "curl -sS --fail-with-body ")
        ran = subprocess.run(
            ["/bin/bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ
        )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert '"query_result"' in ran.stdout
    assert len((tmp_path / "release.csv").read_text().splitlines()) == 501
