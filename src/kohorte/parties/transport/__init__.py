"""How messages travel between parties: channels in memory, and over HTTPS with pinned certificates."""
