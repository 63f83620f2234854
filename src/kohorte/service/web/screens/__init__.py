"""The web interface: pages rendered by the server, which call the same functions as the REST interface."""
