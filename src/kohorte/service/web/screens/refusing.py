"""What a page refuses in place: checked like a body of the REST interface, and noted like a refusal there."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from kohorte.errors import AccessDenied, InputError, KohorteError
from kohorte.service.problems import status_of
from kohorte.service.trust import refusals
from kohorte.service.web.models.requests import Body
from kohorte.service.web.screens.visitors import Visitor

Model = TypeVar("Model", bound=Body)
NOT_IN_PLACE = ("not-found", "not-allowed", "not-signed-in", "form-foreign")
"""Refusals that have a page of their own, so that nobody learns what there is."""


def body_of(model: type[Model], **given: Any) -> Model:
    """Return the fields of a form as the body that the REST interface takes; the message repeats no field."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        raise InputError(f"{place}: is missing or not valid", code="form-field", field=place) from None


def told_in_place(visitor: Visitor, error: KohorteError) -> int:
    """Note a refusal in the log of the part, as over REST, and return its status for the page that shows it."""
    status = status_of(error)
    if (isinstance(error, AccessDenied) and error.code in NOT_IN_PLACE) or status >= refusals.SERVER_ERRORS:
        raise error
    request = visitor.request
    part = refusals.part_of(request.url.path)
    if part is not None:
        refusals.note(visitor.service, part, visitor.actor, request.state.operation, error)
    return int(status)
