"""The processes of the service: the server, its children, and how a command opens the folder."""
