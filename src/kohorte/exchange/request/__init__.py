"""Requests: which attributes of which people somebody asks for, why, and until when."""

from kohorte.exchange.request.conditions import Condition, condition_from
from kohorte.exchange.request.request import Request, Requester
from kohorte.exchange.request.selection import satisfied_without, selected_rows

__all__ = ["Condition", "Request", "Requester", "condition_from", "satisfied_without", "selected_rows"]
