"""The fixtures of the service, for its web interface."""

from support.browser import chromium
from support.service import backend, client, light_hashes, service, service_settings

__all__ = ["backend", "chromium", "client", "light_hashes", "service", "service_settings"]
