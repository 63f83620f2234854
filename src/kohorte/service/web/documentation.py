"""The documentation page: Swagger UI from this installation, without external resources and inline script."""

from __future__ import annotations

from pathlib import Path

import fastapi_offline
from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse, HTMLResponse, JSONResponse

from kohorte.errors import AccessDenied
from kohorte.pages import render
from kohorte.service.web.middleware.security_headers import OWN_SCRIPTS

router = APIRouter(include_in_schema=False)
ASSETS = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon.png": "image/png",
}
START = "start.js"
SCRIPT = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#documentation",
  deepLinking: true,
  docExpansion: "list",
  validatorUrl: null,
  queryConfigEnabled: false,
});
"""


@router.get("/docs")
def show_documentation() -> HTMLResponse:
    """Show the page."""
    page = render("kohorte.service.web", "documentation.html.j2", start=START)
    return HTMLResponse(page, headers={"Content-Security-Policy": OWN_SCRIPTS})


@router.get("/docs/assets/{name}")
def show_documentation_asset(name: str) -> Response:
    """Send one of the files of the page."""
    if name == START:
        return Response(SCRIPT, media_type="text/javascript")
    if name not in ASSETS:
        raise AccessDenied("there is no such file", code="not-found")
    return FileResponse(Path(fastapi_offline.__file__).parent / "static" / name, media_type=ASSETS[name])


@router.get("/openapi.json")
def show_openapi(request: Request) -> JSONResponse:
    """Describe the interface in OpenAPI 3.1."""
    return JSONResponse(request.app.openapi())
