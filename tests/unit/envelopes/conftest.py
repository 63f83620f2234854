"""Three key pairs: of a recipient, a sender and a stranger."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.envelopes import Pair, pair


@pytest.fixture
def recipient(tmp_path: Path) -> Pair:
    return pair(tmp_path, "recipient")


@pytest.fixture
def sender(tmp_path: Path) -> Pair:
    return pair(tmp_path, "sender")


@pytest.fixture
def stranger(tmp_path: Path) -> Pair:
    return pair(tmp_path, "stranger")
