"""Pages from templates, with the frame of the interface around them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from kohorte.languages import LANGUAGES, Language
from kohorte.pages import render
from kohorte.service.web.middleware.security_headers import SCREENS
from kohorte.service.web.screens.sentences import sentence

ROOM = "kohorte.service.web.screens"
STATIC = Path(__file__).parent / "static"


def rendered(request: Request, template: str, language: Language, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a page; `said` in the address names a sentence that is shown above it."""
    content = render(
        ROOM,
        template,
        language=language,
        with_forms=True,
        **{
            "visitor": None,
            "here": request.url.path,
            "places": (),
            "languages": LANGUAGES,
            "said": sentence(request.query_params.get("said", "")),
            "version": fingerprint(),
            **values,
        },
    )
    return HTMLResponse(content, status, headers={"Content-Security-Policy": SCREENS})


@cache
def fingerprint() -> str:
    """Return a name for the present state of style and script, so that browsers load a new one at once."""
    files = sorted(path for path in STATIC.iterdir() if path.suffix in (".css", ".js"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
