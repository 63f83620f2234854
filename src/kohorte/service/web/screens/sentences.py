"""Sentences that are shown once after something was done; an address can name them, but not invent one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kohorte.languages import translatable

SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "signed-out": translatable("You have signed out."),
        "steward-created": translatable("The first data steward has been created. Sign in now."),
        "user-created": translatable("The account has been created."),
        "user-changed": translatable("The account has been changed."),
        "user-deleted": translatable("The account has been deleted."),
        "password-changed": translatable("Your password has been changed."),
        "waits": translatable("The change waits for a second person, who has to confirm it."),
        "confirmed": translatable("You have confirmed the change, and it has been carried out."),
        "declined": translatable("You have declined the change. Nothing was carried out."),
        "dataset-stored": translatable("The table has been stored, encrypted."),
        "dataset-deleted": translatable("The data set has been deleted."),
        "project-created": translatable("The project has been created. Its release is being made."),
        "draft-saved": translatable("The draft has been saved. Nobody but data stewards sees it before you submit it."),
        "draft-submitted": translatable(
            "The draft has been submitted. Approvers and data protection officers see it now."
        ),
        "draft-signed": translatable("You have signed this version."),
        "draft-returned": translatable("You have returned the draft to the data stewards."),
        "project-withdrawn": translatable("The release has been withdrawn. Nobody can download it any more."),
        "hierarchy-stored": translatable("The hierarchy has been stored. New plans for this data set use it."),
        "hierarchy-deleted": translatable("The stored hierarchy has been deleted. Projects keep their copies."),
        "job-cancelled": translatable("The job will stop within a few seconds."),
        "request-received": translatable("The request has been kept. A data steward can check it now."),
        "check-started": translatable("The check has begun. Its result is on the page of the request."),
        "request-decided": translatable("Your decision has been noted."),
        "request-answered": translatable("The answer has been written. Download its files below."),
        "answer-sent": translatable("The answer has been signed and is being sent to the institution."),
        "request-sent": translatable("The request has been signed. It is sent as soon as the other house is reached."),
        "statistics-imported": translatable("The tables have been imported."),
        "peer-added": translatable("The institution has been added to the address book."),
        "peer-removed": translatable("The institution has been removed. It can send nothing more."),
        "way-back-asked": translatable("Your request waits for two approvers."),
        "way-back-approved": translatable("You have approved the request."),
        "way-back-declined": translatable("The request has been declined for good. Nothing is shown."),
        "series-started": translatable("The series has been started. Nothing has been released yet."),
        "series-released": translatable("The release has been made and verified. Download its files below."),
        "nothing-changed": translatable("Nothing has changed."),
    }
)


def sentence(name: str) -> str:
    """Return the sentence with this name, or an empty text."""
    return SENTENCES.get(name, "")
