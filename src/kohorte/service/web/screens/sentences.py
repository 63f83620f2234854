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
        "job-cancelled": translatable("The job will stop within a few seconds."),
        "nothing-changed": translatable("Nothing has changed."),
    }
)


def sentence(name: str) -> str:
    """Return the sentence with this name, or an empty text."""
    return SENTENCES.get(name, "")
