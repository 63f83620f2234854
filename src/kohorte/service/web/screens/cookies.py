"""The two cookies of the web interface: who is signed in, and in which language pages are shown."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from kohorte.languages import Language, language, preferred

SIGNED_IN, LANGUAGE = ("__Host-kohorte", "kohorte"), "kohorte-language"
A_YEAR = 365 * 24 * 3600


def name_of(request: Request) -> str:
    """Return the name of the cookie: browsers accept `__Host-` only from this host and over TLS."""
    return SIGNED_IN[0] if _is_secure(request) else SIGNED_IN[1]


def signed_in(request: Request) -> str | None:
    """Return the cookie of a person who is signed in."""
    return request.cookies.get(name_of(request))


def keep(request: Request, response: Response, cookie: str) -> None:
    """Give the browser the cookie until it is closed; it sends it to this service alone, and no script can read it."""
    response.set_cookie(
        name_of(request), cookie, path="/", secure=_is_secure(request), httponly=True, samesite="strict"
    )


def forget(request: Request, response: Response) -> None:
    """Take the cookie from the browser, and what it has stored of private pages."""
    response.delete_cookie(name_of(request), path="/", secure=_is_secure(request), httponly=True, samesite="strict")
    response.headers["Clear-Site-Data"] = '"cache", "storage"'


def language_of(request: Request) -> Language:
    """Return the language that was chosen, or the one that the browser prefers."""
    return language(request.cookies.get(LANGUAGE)) or preferred(request.headers.get("accept-language", ""))


def keep_language(request: Request, response: Response, chosen: Language) -> None:
    """Remember the language for a year."""
    response.set_cookie(
        LANGUAGE,
        chosen.code,
        max_age=A_YEAR,
        path="/app",
        secure=_is_secure(request),
        httponly=True,
        samesite="strict",
    )


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https" or bool(request.app.state.service.settings.behind_proxy)
