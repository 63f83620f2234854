"""The script that Alembic runs: all migrations, on the connection given by `migration`."""

from __future__ import annotations

from alembic import context

from kohorte.service.storage.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
