"""The fixtures of the service: everything that asks for `service` runs on SQLite and on PostgreSQL."""

from support.service import address, backend, client, light_hashes, researcher, service, service_settings, steward

__all__ = ["address", "backend", "client", "light_hashes", "researcher", "service", "service_settings", "steward"]
