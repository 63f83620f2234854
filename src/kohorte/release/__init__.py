"""From a plan and a table to a verified release and its certificate."""

from kohorte.release.anonymization import anonymize, find_candidate
from kohorte.release.candidate import Candidate
from kohorte.release.certificate import Certificate, certify, versions, warnings
from kohorte.release.release import Release
from kohorte.release.trying.prepared_table import PreparedTable
from kohorte.release.verification import ModelVerdict, Verification, verify
from kohorte.release.write import certificate_paths, write_release

__all__ = [
    "Candidate",
    "Certificate",
    "ModelVerdict",
    "PreparedTable",
    "Release",
    "Verification",
    "anonymize",
    "certificate_paths",
    "certify",
    "find_candidate",
    "verify",
    "versions",
    "warnings",
    "write_release",
]
