"""Open the service of a folder if the libraries of the extra `service` are installed; imports none of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from kohorte.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.service.context import Service

LIBRARIES = (
    "alembic",
    "anyascii",
    "cryptography",
    "duckdb",
    "fastapi",
    "fastapi_offline",
    "jwt",
    "nacl",
    "opendp",
    "prometheus_client",
    "psycopg",
    "python_multipart",
    "rapidfuzz",
    "sqlalchemy",
    "sqlglot",
    "uvicorn",
)


def refuse_missing_libraries() -> None:
    """Refuse to continue if the extra is not installed."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the service needs {', '.join(missing)}; install kohorte[service]", code="service-library-missing"
        )


@contextmanager
def opened(folder: str | Path, *, lenient: bool = False) -> Iterator[Service]:
    """Open the existing service of a folder; `lenient` also one whose database and state.log do not fit."""
    refuse_missing_libraries()
    from kohorte.service.context import How, Service
    from kohorte.service.settings import Settings

    how = How.LENIENT if lenient else How.STRICT
    with Service.opened(Settings.load(Path(folder)), create=False, how=how) as service:
        yield service
