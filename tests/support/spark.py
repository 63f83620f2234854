"""The Spark of the tests: one session per test process, with two workers as processes, and Spark Connect beside it."""

from __future__ import annotations

import functools
import os
import shutil
import socket
import tempfile
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kohorte.errors import InputError
from kohorte.sources.spark.session import refuse_java, start_session

MASTERS = ("local-cluster[2,1,1024]", "local[2]")
"""Two workers as processes of their own where that can be had; a single machine may lack the memory."""


@dataclass(frozen=True)
class RunningSpark:
    """A session, and the address at which Spark Connect serves the same workers."""

    session: Any
    connect: str
    folder: Path

    def stop(self) -> None:
        """Stop Spark, and remove what it and its workers left on the disk."""
        application = self.session.sparkContext.applicationId
        self.session.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        home = Path(str(import_module("pyspark").__file__)).parent
        shutil.rmtree(home / "work" / application, ignore_errors=True)


@functools.cache
def _running(config: pytest.Config) -> RunningSpark:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = tempfile.mkdtemp(prefix="kohorte-spark-")
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": f"{kept}/warehouse",
        "spark.local.dir": kept,
        "spark.executor.memory": "512m",
    }
    given = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    environment = {"PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell", "SPARK_LOCAL_IP": "127.0.0.1"}
    with patch.dict(os.environ, environment):
        for master in MASTERS:
            try:
                running = RunningSpark(start_session(master), f"sc://127.0.0.1:{port}", Path(kept))
            except InputError as error:
                if error.code != "spark-unreachable" or master == MASTERS[-1]:
                    raise
            else:
                config.add_cleanup(running.stop)
                return running
    raise AssertionError("not reached")


def spark(config: pytest.Config) -> RunningSpark:
    """Return the Spark of this test process, started when first asked for; skip where it cannot be had."""
    if find_spec("pyspark") is None or find_spec("grpc") is None:
        pytest.skip("Spark is not installed (make spark)")
    try:
        refuse_java()
    except InputError:
        pytest.skip("there is no Java 17 (make spark)")
    return _running(config)
