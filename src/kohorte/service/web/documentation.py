"""The documentation page: Swagger UI from this installation, without an address outside and without inline script."""

from __future__ import annotations

from pathlib import Path

import fastapi_offline
from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse, HTMLResponse, JSONResponse

from kohorte.errors import AccessDenied
from kohorte.service.web.headers import OWN_SCRIPTS

router = APIRouter(include_in_schema=False)
ASSETS = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon.png": "image/png",
}
START = "start.js"
PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kohorte: the interface</title>
<link rel="icon" type="image/png" href="docs/assets/favicon.png">
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
</head>
<body>
<div id="documentation"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/assets/{START}"></script>
</body>
</html>
"""
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
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": OWN_SCRIPTS})


@router.get("/docs/assets/{name}")
def show_documentation_asset(name: str) -> Response:
    """Send a file of the page, if it is one of the few."""
    if name == START:
        return Response(SCRIPT, media_type="text/javascript")
    if name not in ASSETS:
        raise AccessDenied("there is no such file", code="not-found")
    return FileResponse(Path(fastapi_offline.__file__).parent / "static" / name, media_type=ASSETS[name])


@router.get("/openapi.json")
def show_openapi(request: Request) -> JSONResponse:
    """Describe the interface in OpenAPI 3.1."""
    return JSONResponse(request.app.openapi())
