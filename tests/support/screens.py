"""The web interface in tests: people who sign in with a form, and forms that carry their token."""

from __future__ import annotations

import html
import re
from typing import Any

from fastapi.testclient import TestClient
from httpx import Response

from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.service import PASSWORD, new_user_with

_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def enter(service: Service, client: TestClient, *roles: Role) -> Any:
    """Create a user, sign in with the form, and return the row of the user; the client keeps the cookie."""
    row = new_user_with(service, *roles)
    sign_in(client, row.email_address)
    return row


def sign_in(client: TestClient, email_address: str, password: str = PASSWORD) -> Response:
    """Send the sign-in form."""
    client.cookies.delete("kohorte")
    answer = client.post("/app/sign-in", data={"email_address": email_address, "password": password})
    assert "kohorte" in client.cookies, answer.text
    return answer


def token_of(client: TestClient, page: str = "/app/me") -> str:
    """Return the token that forms of the present session carry."""
    found = _TOKEN.search(client.get(page).text)
    assert found is not None
    return found[1]


def send(client: TestClient, path: str, **fields: Any) -> Response:
    """Send a form as the page would, and follow to the page that comes next."""
    return client.post(path, data={"form_token": token_of(client), **fields})


def words(answer: Response) -> str:
    """Return the text of a page without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())
