"""The options of every verb that writes a report."""

from __future__ import annotations

import argparse

from kohorte.errors import InputError
from kohorte.languages import ENGLISH, LANGUAGES, Language
from kohorte.report.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.plans.parts import About

ABOUT = {"title": "name of the data set", "purpose": "what it is passed on for", "recipient": "who gets it"}


def add_report_options(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --report, --report-view and --language, and what the page and the certificate say at their head."""
    parser.add_argument("--report", metavar="FILE", help=text)
    views = [view.value for view in View]
    parser.add_argument("--report-view", choices=views, help="public (default), or internal: with more")
    parser.add_argument(
        "--language", choices=[one.code for one in LANGUAGES], help="language of report and certificate (default: en)"
    )
    for name, meaning in ABOUT.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=f"{meaning}, as the report and the certificate state it")


def report_view(options: argparse.Namespace) -> str:
    """The view that was asked for; one without a report is refused."""
    if options.report_view is not None and options.report is None:
        raise InputError("--report-view says who reads a report: give --report as well", code="report-view")
    view: str = options.report_view or View.PUBLIC.value
    return view


def reader(options: argparse.Namespace, *, certificate: bool = False) -> Language:
    """The language of the reader; one without anything that would be written in it is refused."""
    if options.language is None:
        return ENGLISH
    if options.report is None and not certificate:
        raise InputError("--language is that of a report: give --report as well", code="report-language")
    return next(one for one in LANGUAGES if one.code == options.language)


def about(options: argparse.Namespace) -> About:
    """What the options say about the release."""
    from kohorte.plans.parts import About

    return About(**{name: getattr(options, name) for name in ABOUT})


def refuse_unread_about(options: argparse.Namespace) -> None:
    """Refuse to state a purpose and the like where nothing would say it."""
    given = [name for name in ABOUT if getattr(options, name) is not None]
    if given and options.report is None:
        raise InputError(f"--{given[0]} stands in a report: give --report as well", code="report-about")
