"""Sockets and the HTTP protocol below the application: limits on connections, timeouts for slow clients."""
