"""Several holders, one release: what it saves against releases of each holder, and what the protocols cost."""
