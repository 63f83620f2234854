"""Layers around all routes: log, headers, limits, strict JSON."""
