"""A Spark session of our own, and errors of Spark without its messages, which may contain values."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.errors import EngineError, InputError

OLDEST_SPARK, OLDEST_JAVA = 4, 17
CONNECT = "sc://"
SETTINGS = {
    "spark.app.name": "kohorte",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",  # its pages can be read by everybody who reaches the machine
    "spark.ui.showConsoleProgress": "false",
}
OF_SESSION = {"spark.sql.sources.partitionColumnTypeInference.enabled": "false"}  # names of folders are texts

LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Write each error to standard error, as JSON."""

_SECRET = re.compile(r"[;/?&](token|password|[a-z_-]*secret[a-z_-]*)=|//[^/]*:[^/]*@", re.IGNORECASE)
_FULL = ("No space left", "Disk quota exceeded", "os error 28")
_MEMORY = ("OutOfMemoryError", "maxResultSize", "Java heap space", "RESOURCE_EXHAUSTED", "SparkOutOfMemory")


def library() -> Any:
    """PySpark, which the extra `spark` installs, in a version that is supported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
            found = import_module("pyspark")
            import_module("pyspark.sql")
            import_module("pyarrow")
    except ImportError:
        raise InputError(
            "a table in Spark needs pyspark; install kohorte[spark]", code="query-library-missing"
        ) from None
    refuse_version(str(found.__version__))
    return found


def refuse_version(version: str) -> None:
    """Refuse a Spark that is too old; the frames of older ones cannot be counted with Arrow."""
    major = version.partition(".")[0]
    if not major.isdigit() or int(major) < OLDEST_SPARK:
        raise InputError(f"Spark, or PySpark, is older than version {OLDEST_SPARK}; update it", code="spark-version")


def start_session(master: str | None = None) -> Any:
    """Start a session: in this process and on the workers of a master, or over Spark Connect at sc://HOST:PORT.

    Without a master, Spark's own settings say where it runs. Nothing that Spark prints is shown. It ends
    with this process.
    """
    if master is not None and _SECRET.search(master):
        raise InputError(
            "the address of the master contains a token or password, which others could read in the list of "
            "processes; put the address into the environment variable SPARK_REMOTE",
            code="spark-master",
        )
    spark = library()
    remote = os.environ.get("SPARK_REMOTE") if master is None else master
    connects = remote is not None and remote.startswith(CONNECT)
    if not connects:
        refuse_java()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            session = _connected(remote) if connects else _classic(spark, master)
            for name, value in OF_SESSION.items():
                session.conf.set(name, value)
            version = str(session.version)
    except Exception:  # noqa: BLE001 - of Spark, Java, py4j or gRPC; their messages are not shown
        raise InputError(
            "Spark could not be started, or its master cannot be reached: look at --master, and try the same master "
            "with Spark's own shell, pyspark, which says more",
            code="spark-unreachable",
        ) from None
    atexit.register(session.stop)
    refuse_version(version)
    return session


def _connected(remote: str | None) -> Any:
    return import_module("pyspark.sql.connect.session").SparkSession.builder.remote(remote).getOrCreate()


def _classic(spark: Any, master: str | None) -> Any:
    """Start Java so that nothing of what it prints comes through: its messages may contain values."""
    conf = spark.SparkConf(loadDefaults=False)
    for name, value in SETTINGS.items():
        conf.set(name, value)
    if master is not None:
        conf.set("spark.master", master)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    gateway = import_module("pyspark.java_gateway").launch_gateway(conf, popen_kwargs=silent)
    context = spark.SparkContext(conf=conf, gateway=gateway)
    return import_module("pyspark.sql").SparkSession(context)


def refuse_java() -> None:
    """Refuse if there is no Java, or one that is too old for Spark."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    try:
        told = subprocess.run([java or "java", "-version"], capture_output=True, check=True, timeout=60).stderr  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        raise InputError(
            f"Spark needs Java {OLDEST_JAVA} or newer, and there is none; install it, or set JAVA_HOME",
            code="spark-java",
        ) from None
    version = re.search(rb'"(\d+)', told)
    if version is not None and int(version[1]) < OLDEST_JAVA:
        raise InputError(
            f"Spark needs Java {OLDEST_JAVA} or newer, and this one is older; install a newer one, or set JAVA_HOME",
            code="spark-java",
        )


@contextmanager
def _silent() -> Iterator[None]:
    """Keep PySpark from logging the errors that it raises, with their values."""
    try:
        kind = import_module("pyspark.logger").PySparkLogger  # its own loggers take other arguments than Python's
    except ImportError:
        kind = None
    loggers = [] if kind is None else [kind.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Replace an error of Spark, whose message may contain values, by an error of this package."""
    try:
        with _silent():
            yield
    except (InputError, EngineError):
        raise
    except pl.exceptions.PolarsError:
        raise EngineError(f"{what}: what Spark sent could not be read", code="source-failed") from None
    except Exception as error:  # noqa: BLE001 - of Spark, Java, py4j, gRPC or Arrow
        message = str(error)  # looked at, and never shown
        if any(sign in message for sign in _FULL):
            raise EngineError(f"{what}: Spark has no space left on a disk", code="disk-full") from None
        if any(sign in message for sign in _MEMORY):
            raise EngineError(
                f"{what}: Spark needs more memory than it has; give its driver and executors more "
                "(spark.driver.memory, spark.driver.maxResultSize, spark.executor.memory)",
                code="source-memory",
            ) from None
        if "PATH_NOT_FOUND" in message or "FileNotFoundException" in message:
            raise InputError(
                f"{what}: the workers of Spark do not see this file; it must be in a folder that all of them share",
                code="spark-folder",
            ) from None
        raise EngineError(f"{what}: Spark could not count or write the rows", code="source-failed") from None
