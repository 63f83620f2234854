"""Style and script of the interface, from this installation."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import AccessDenied
from kohorte.pages.charts.svg import chart_rules
from kohorte.pages.style import css
from kohorte.service.web.screens.rendering import STATIC

router = APIRouter(include_in_schema=False)
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = frozenset(path.name for path in STATIC.iterdir() if path.suffix in KINDS)


@router.get("/app/static/{name}", name="screen_static")
def send_file(name: str) -> Response:
    """Send one of the files; the style has the colours of the page kit and the rules of its charts."""
    if name not in FILES:
        raise AccessDenied("there is no such file", code="not-found")
    text = (STATIC / name).read_text(encoding="utf-8")
    kind = KINDS[(STATIC / name).suffix]
    return Response(str(css(chart_rules() + text)) if kind == "text/css" else text, media_type=kind)
