"""The regions that a series is expected to reach; they steer its splits."""
