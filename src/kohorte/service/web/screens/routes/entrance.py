"""Sign in, sign out, and create the first data steward."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kohorte.errors import AccessDenied, KohorteError
from kohorte.languages import language
from kohorte.service import setup_token
from kohorte.service.accounts import browsers, sessions, setup
from kohorte.service.web.execution.signing_in import limiter
from kohorte.service.web.screens import cookies
from kohorte.service.web.screens.addresses import ROOT, SIGN_IN, local
from kohorte.service.web.screens.rendering import rendered
from kohorte.service.web.screens.visitors import Allowed, SessionEnded, Visitor

router = APIRouter(include_in_schema=False)
Stranger = Annotated[Visitor, Allowed("login")]


@router.get("/", name="screen_root")
def root() -> RedirectResponse:
    """Lead to the interface."""
    return RedirectResponse(ROOT, 303)


@router.get("/app/sign-in", name="screen_sign_in")
def sign_in_page(visitor: Stranger, next: str = ROOT) -> Response:  # noqa: A002 - the name in the address
    """Show the form; a service without a steward shows the set-up first."""
    if not setup.has_steward(visitor.service):
        return visitor.to(f"{ROOT}/setup")
    if visitor.visit is not None:
        return visitor.to(local(next))
    return visitor.page("sign_in.html.j2", next=local(next), kept="", problem=None, email_address="")


@router.post("/app/sign-in", name="screen_signing_in")
async def sign_in(visitor: Stranger) -> Response:
    """Begin a session. After a session that ended in the middle of an edit, offer what was typed again."""
    next_page, kept = local(visitor.text("next")), visitor.text("kept")
    email_address, password = visitor.text("email_address"), str(visitor.form.get("password", ""))
    try:
        work = partial(browsers.begin, visitor.service, email_address, password)
        cookie = await to_thread.run_sync(work, limiter=limiter())
    except AccessDenied as error:
        told = {"next": next_page, "kept": kept, "problem": error, "email_address": email_address}
        return visitor.page("sign_in.html.j2", status=403 if error.code == "login-failed" else 429, **told)
    visit = await run_in_threadpool(browsers.visit_of, visitor.service, cookie)
    fields = _fields(kept)
    if fields:
        again = Visitor(visitor.request, visitor.service, visitor.language, visit)
        response: Response = again.page("continue.html.j2", action=next_page, fields=fields)
    else:
        response = visitor.to(next_page)
    cookies.keep(visitor.request, response, cookie)
    return response


@router.post("/app/sign-out", name="screen_sign_out")
def sign_out(visitor: Annotated[Visitor, Allowed("logout")]) -> Response:
    """End the session, and remove the cookie and stored pages from the browser."""
    sessions.sign_out(visitor.service, visitor.actor)
    response = visitor.to(SIGN_IN, said="signed-out")
    cookies.forget(visitor.request, response)
    return response


@router.post("/app/language", name="screen_language")
def choose_language(visitor: Stranger) -> Response:
    """Remember the language of pages."""
    response = visitor.to(_place_before(visitor))
    cookies.keep_language(visitor.request, response, language(visitor.text("language")) or visitor.language)
    return response


@router.get("/app/setup", name="screen_setup")
def setup_page(visitor: Annotated[Visitor, Allowed("create_first_steward")]) -> Response:
    """Show the form for the first data steward, as long as there is none."""
    if setup.has_steward(visitor.service):
        return visitor.to(SIGN_IN)
    return visitor.page("setup.html.j2", problem=None)


@router.post("/app/setup", name="screen_setting_up")
def set_up(visitor: Annotated[Visitor, Allowed("create_first_steward")]) -> Response:
    """Create the first data steward with the token of the first start."""
    given = {name: visitor.text(name) for name in ("email_address", "name", "institution")}
    password = str(visitor.form.get("password", ""))
    try:
        if password != str(visitor.form.get("repeated", "")):
            raise AccessDenied("the two passwords differ", code="password-repeated")
        setup.create_first_steward(visitor.service, visitor.text("token"), password=password, **given)
    except KohorteError as error:
        return visitor.page("setup.html.j2", status=400, problem=error)
    setup_token.remove(visitor.service.settings)
    return visitor.to(SIGN_IN, said="steward-created")


def add_session_handler(app: FastAPI) -> None:
    """Answer a form that arrives after its session has ended: sign in again, and nothing that was typed is lost."""
    app.add_exception_handler(SessionEnded, _session_ended)


async def _session_ended(request: Request, error: Exception) -> Response:
    assert isinstance(error, SessionEnded)
    kept = json.dumps(error.fields, ensure_ascii=False)
    told = {"next": local(request.url.path), "kept": kept, "problem": error, "email_address": ""}
    return rendered(request, "sign_in.html.j2", cookies.language_of(request), status=401, **told)


def _fields(kept: str) -> list[tuple[str, str]]:
    try:
        found = json.loads(kept) if kept else []
    except (ValueError, RecursionError):
        return []
    pairs = found if isinstance(found, list) else []
    return [(one[0], one[1]) for one in pairs if isinstance(one, list) and [type(part) for part in one] == [str, str]]


def _place_before(visitor: Visitor) -> str:
    return local(visitor.text("next")) if visitor.visit is not None else SIGN_IN
