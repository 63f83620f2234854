"""Plans, releases, verification and certificates."""

from kohorte.release.anonymization import anonymize, find_release
from kohorte.release.certificate import Certificate, certify, versions, warnings
from kohorte.release.plan import Plan
from kohorte.release.plan_parts import Attribute, Decorrelation
from kohorte.release.release import Release
from kohorte.release.safe_harbor_proposal import safe_harbor_plan
from kohorte.release.search_options import SearchOptions
from kohorte.release.space import SolutionSpace, solution_space
from kohorte.release.verification import ModelVerdict, Verification, verify
from kohorte.release.write import certificate_paths, write_release

__all__ = [
    "Attribute",
    "Certificate",
    "Decorrelation",
    "ModelVerdict",
    "Plan",
    "Release",
    "SearchOptions",
    "SolutionSpace",
    "Verification",
    "anonymize",
    "certificate_paths",
    "certify",
    "find_release",
    "safe_harbor_plan",
    "solution_space",
    "verify",
    "versions",
    "warnings",
    "write_release",
]
