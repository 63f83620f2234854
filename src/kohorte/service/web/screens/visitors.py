"""Who looks at a page, what they may do, and the forms that they send.

Every page needs the permission of an operation of the REST interface (`Allowed`): there is one table of permissions,
and a page shows nothing that the operation would refuse. A form is accepted only from a page of this service: browsers
tell where a request comes from (`Sec-Fetch-Site`, `Origin`), and each form carries the token of its session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from kohorte.errors import AccessDenied
from kohorte.languages import Language
from kohorte.patients.identity import FIELDS
from kohorte.service.access import Actor, permit
from kohorte.service.accounts import browsers
from kohorte.service.context import Service
from kohorte.service.permissions import RULES, Permission
from kohorte.service.web.dependencies import service_of
from kohorte.service.web.screens import cookies
from kohorte.service.web.screens.navigation import places
from kohorte.service.web.screens.rendering import rendered

FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
NEVER_KEPT = frozenset(
    {FORM_TOKEN, "password", "current_password", "repeated", "token", "pid", "other_pid", "pids", "pseudonyms", *FIELDS}
)
"""Fields of a form that are not offered again after its session has ended: secrets, and what says who a patient is.

Another person may sign in at the same browser.
"""
MOST_FIELDS = 50_000
"""The plan of a table with thousands of columns has several fields for each."""
URL_ENCODED, IN_PARTS = "application/x-www-form-urlencoded", "multipart/form-data"


class SessionEnded(AccessDenied):
    """A form arrived after the session had ended; `fields` are what was typed, which must not be lost."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        super().__init__("the session has ended; sign in again", code="not-signed-in")
        self.fields = fields


@dataclass(frozen=True)
class Visitor:
    """A person at a page; `actor` is None before they have signed in."""

    request: Request
    service: Service
    language: Language
    visit: browsers.Visit | None = None
    form: FormData = field(default_factory=FormData, repr=False)

    @property
    def actor(self) -> Actor:
        """The user who is signed in."""
        if self.visit is None:
            raise AccessDenied("sign in first", code="not-signed-in")
        return self.visit.actor

    def may(self, operation: str) -> bool:
        """Whether the visitor may call an operation of the REST interface."""
        rule = RULES[operation]
        return rule is Permission.ANYONE or (self.visit is not None and self.visit.actor.may(rule))

    @property
    def form_token(self) -> str:
        """The token of every form on a page."""
        return "" if self.visit is None else browsers.form_token(self.service, self.visit.actor.session_id)

    def text(self, name: str) -> str:
        """Return a field of the form without blanks around it; an empty text if it is not there."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """Return all values of a field that can be given several times."""
        return [value for value in self.form.getlist(name) if isinstance(value, str)]

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a page for this visitor."""
        shown = () if self.visit is None else places(self.may, self.service.settings.parts)
        return rendered(self.request, template, self.language, status=status, visitor=self, places=shown, **values)

    def to(self, path: str, *, said: str = "") -> RedirectResponse:
        """Send the browser to another page; `said` is the name of a sentence that is shown there once."""
        return RedirectResponse(f"{path}?{urlencode({'said': said})}" if said else path, 303)


def Allowed(operation: str, *, renews: bool = True, uploads: bool = False) -> Any:  # noqa: N802 - reads as a word
    """Return the dependency that gives a route its visitor, who may call the operation.

    Pages that ask for news by themselves do not renew the time of the cookie: only people do. A route that takes
    `uploads` reads the fields of a form with a file while they arrive, and calls `refuse_forged` itself; no other route
    takes a form in parts.
    """
    return Depends(_entering(operation, renews, uploads))


def _entering(operation: str, renews: bool, uploads: bool) -> Callable[[Request], Awaitable[Visitor]]:
    async def enter(request: Request) -> Visitor:
        service, language = service_of(request), cookies.language_of(request)
        if request.method == "POST":  # to look at the form is no attempt to sign in
            request.app.state.limits.count_operation(request.scope, operation)
        request.state.actor, request.state.operation = None, operation
        form = await _form(request, service.settings.body_limit)
        needed = RULES.get(operation) is not Permission.ANYONE
        visit = await _visit(request, service, form, needed=needed)
        if visit is not None:
            request.state.actor = visit.actor  # before `permit`, so that a refusal is noted as over REST
            request.app.state.limits.count_user(visit.actor.user_id)
        permit(operation, None if visit is None else visit.actor)
        if visit is not None:
            if needed and not (uploads and _kind(request) == IN_PARTS):
                _refuse_other_sites(request, service, visit, form)
            request.state.renews = renews
        return Visitor(request, service, language, visit, form)

    enter.operation = operation  # type: ignore[attr-defined]
    return enter


async def _form(request: Request, limit: int) -> FormData:
    """The fields of a form; one field can be as large as a body."""
    if request.method != "POST":
        return FormData()
    if _from_elsewhere(request):
        raise _foreign()
    return (
        await request.form(max_part_size=limit, max_fields=MOST_FIELDS) if _kind(request) == URL_ENCODED else FormData()
    )


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _visit(request: Request, service: Service, form: FormData, *, needed: bool) -> browsers.Visit | None:
    cookie = cookies.signed_in(request)
    try:
        if cookie is None:
            raise AccessDenied("sign in first", code="not-signed-in")
        return await run_in_threadpool(browsers.visit_of, service, cookie)
    except AccessDenied as error:
        if not needed:
            return None
        if request.method == "POST" and error.code == "not-signed-in":
            kept = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
            raise SessionEnded([(name, value) for name, value in kept if name not in NEVER_KEPT]) from None
        raise


def refuse_forged(visitor: Visitor, token: str) -> None:
    """Refuse a form without the token of its session; for uploads, whose fields are read while they arrive."""
    if not browsers.is_form_token(visitor.service, visitor.actor.session_id, token):
        raise _foreign()


def _refuse_other_sites(request: Request, service: Service, visit: browsers.Visit, form: FormData) -> None:
    if request.method != "POST":
        return
    token = form.get(FORM_TOKEN, "")
    if not isinstance(token, str) or not browsers.is_form_token(service, visit.actor.session_id, token):
        raise _foreign()


def _from_elsewhere(request: Request) -> bool:
    """Whether the browser says that a form comes from another site.

    `Sec-Fetch-Site` decides where it is sent. Pages send no referrer, so that browsers may hide the origin of their
    forms, too (`null`); the token of the session decides then.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin", "null")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin != "null" and urlsplit(origin).netloc != request.headers.get("host", "")


def _foreign() -> AccessDenied:
    return AccessDenied(
        "the form does not come from a page of this service; open the page again and repeat", code="form-foreign"
    )
