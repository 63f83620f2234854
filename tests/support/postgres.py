"""The PostgreSQL of the tests: one cluster per test process, a fresh database per test."""

from __future__ import annotations

import functools

import pytest

from testbed.postgresql import Cluster, programs


@functools.cache
def _running(*, fsync: bool) -> Cluster:
    found = programs()
    assert found is not None
    return Cluster(found, fsync=fsync)


def cluster(config: pytest.Config, *, fsync: bool = False) -> Cluster:
    """Return the server of this test process, started when first asked for; skip where none is installed."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed (make postgresql)")
    running = _running(fsync=fsync)
    config.add_cleanup(running.stop)
    return running
