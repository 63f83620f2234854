"""The research service over HTTP: a real server, real workers, and clients beside them."""
