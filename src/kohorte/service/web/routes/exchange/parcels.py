"""The door for other institutions: parcels with requests and answers, proven by the certificate of the connection."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from kohorte.service.exchange import parcels
from kohorte.service.web.client_certificates import presented
from kohorte.service.web.dependencies import ServiceDep

router = APIRouter(tags=["exchange"], prefix="/exchange")
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}


class ReceiptAnswer(BaseModel):
    """The parcel has arrived, and is kept."""

    number: str = Field(examples=["5f0c7c3b2e0d4a7f9a3b1c2d3e4f5a6b"])
    kind: str = Field(examples=["request"])
    sha256: str = Field(description="The hash of the parcel, by which the sender knows that it is the right one.")


@router.post("/parcels", summary="Receive a parcel of another institution", openapi_extra=BODY)
async def receive_parcel(request: Request, service: ServiceDep) -> ReceiptAnswer:
    """Take a request or an answer of an institution in the address book; the same parcel again changes nothing."""
    parcel = await run_in_threadpool(parcels.arriving, service, presented(request.scope))
    try:
        async for piece in request.stream():
            await run_in_threadpool(parcel.write, piece)
        receipt = await run_in_threadpool(parcels.keep, service, parcel)
    finally:
        parcel.abandon()
    return ReceiptAnswer(**receipt.to_dict())
