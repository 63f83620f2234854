"""The regions that a series is expected to reach, made from outside statistics; they steer its splits."""
