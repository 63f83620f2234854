"""Policies of the release check: every threshold, from a file."""

from kohorte.exchange.policies.base_set import BaseSet
from kohorte.exchange.policies.policy import POLICIES, CheckPolicy, Detail

__all__ = ["POLICIES", "BaseSet", "CheckPolicy", "Detail"]
