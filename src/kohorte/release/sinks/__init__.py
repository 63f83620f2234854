"""Where releases go, besides files."""
