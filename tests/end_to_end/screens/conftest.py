"""The fixtures of the service, for its web interface."""

from support.service import backend, client, light_hashes, service, service_settings

__all__ = ["backend", "client", "light_hashes", "service", "service_settings"]
