"""What this house asks other institutions, the answers, and the address book."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.responses import FileResponse

from kohorte.service.exchange import asking
from kohorte.service.web.dependencies import ActorDep, ServiceDep
from kohorte.service.web.models.exchange import (
    GivenPeer,
    IdentityAnswer,
    PeerAnswer,
    PeerName,
    PeersAnswer,
    QuestionToOthers,
    ReceivedAnswerModel,
    ReceivedAnswersModel,
    SentAnswer,
    SentRequests,
)
from kohorte.service.web.routes.exchange.requests import FILE

router = APIRouter(tags=["exchange"], prefix="/exchange")
ParcelNumber = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


@router.get("/identity", summary="Show the certificate of this house")
def show_identity(service: ServiceDep) -> IdentityAnswer:
    """Return name, fingerprint and certificate, by which other institutions know this house."""
    return IdentityAnswer(**asking.identity(service))


@router.get("/peers", summary="List the address book")
def list_peers(service: ServiceDep) -> PeersAnswer:
    """Return the institutions with which this one exchanges requests and answers."""
    return PeersAnswer(peers=[PeerAnswer(**one) for one in asking.peers(service)])


@router.post("/peers", status_code=201, summary="Add an institution")
def add_peer(body: GivenPeer, service: ServiceDep, actor: ActorDep) -> PeerAnswer:
    """Add an institution to the address book, with the fingerprint that a person there read out."""
    return PeerAnswer(**asking.add_peer(service, actor, body.model_dump()))


@router.post("/peers/remove", status_code=204, summary="Remove an institution")
def remove_peer(body: PeerName, service: ServiceDep, actor: ActorDep) -> Response:
    """Remove an institution from the address book; it can send nothing more."""
    asking.remove_peer(service, actor, body.institution)
    return Response(status_code=204)


@router.post("/sent", status_code=201, summary="Ask another institution")
def send_request(body: QuestionToOthers, service: ServiceDep, actor: ActorDep) -> SentAnswer:
    """Sign a request in your name and send it; it waits if the other house cannot be reached."""
    return SentAnswer(**asking.send(service, actor, body.to, body.asked()))


@router.get("/sent", summary="List what was asked")
def list_sent_requests(service: ServiceDep, actor: ActorDep) -> SentRequests:
    """Return the requests that you have sent; stewards see all."""
    return SentRequests(sent=[SentAnswer(**one) for one in asking.sent(service, actor)])


@router.get("/answers", summary="List the answers")
def list_answers(service: ServiceDep, actor: ActorDep) -> ReceivedAnswersModel:
    """Return the answers to your requests; stewards see all."""
    return ReceivedAnswersModel(answers=[ReceivedAnswerModel(**one) for one in asking.answers(service, actor)])


@router.get("/answers/{number}/{name}", summary="Read an answer", response_class=FileResponse, responses=FILE)
def read_answer(number: ParcelNumber, name: str, service: ServiceDep, actor: ActorDep) -> FileResponse:
    """Return a file of an answer, after its signature and hashes were compared again."""
    return FileResponse(asking.answer_file(service, actor, number, name), media_type="application/octet-stream")
