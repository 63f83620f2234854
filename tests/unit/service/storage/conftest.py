"""What depends on the database most runs on both in `make test`, too."""

from support.service import always_both as backend

__all__ = ["backend"]
