"""How pages name users whom a log names by their number."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kohorte.errors import AccessDenied
from kohorte.languages import translatable
from kohorte.service.accounts import users
from kohorte.service.trust.folders import name_of, number_of
from kohorte.service.web.screens.visitors import Visitor

YOU, USER = translatable("you"), translatable("user %(number)s")


def namer(visitor: Visitor) -> Callable[[str], str]:
    """Return what gives the people of a log names: only those who may see users learn more than numbers."""
    language, own = visitor.language, name_of(visitor.actor)

    @cache
    def named(name: str) -> str:
        number = number_of(name)
        if name == own:
            return language.gettext(YOU)
        if not number:
            return name
        if visitor.may("list_users"):
            try:
                return str(users.shown(visitor.service, visitor.actor, number).name)
            except AccessDenied:  # the account was deleted
                pass
        return language.gettext(USER) % {"number": number}

    return named
