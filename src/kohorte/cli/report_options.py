"""The options of every verb that writes a report."""

from __future__ import annotations

import argparse

from kohorte.errors import InputError
from kohorte.report.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.plans.parts import About

ABOUT = {"title": "name of the data set", "purpose": "what it is passed on for", "recipient": "who gets it"}


def add_report_options(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --report and --report-view, and what the page and the certificate say at their head."""
    parser.add_argument("--report", metavar="FILE", help=text)
    views = [view.value for view in View]
    parser.add_argument("--report-view", choices=views, help="public (default), or internal: with more")
    for name, meaning in ABOUT.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=f"{meaning}, as the report and the certificate state it")


def report_view(options: argparse.Namespace) -> str:
    """The view that was asked for; one without a report is refused."""
    if options.report_view is not None and options.report is None:
        raise InputError("--report-view says who reads a report: give --report as well", code="report-view")
    view: str = options.report_view or View.PUBLIC.value
    return view


def about(options: argparse.Namespace) -> About:
    """What the options say about the release."""
    from kohorte.plans.parts import About

    return About(**{name: getattr(options, name) for name in ABOUT})


def refuse_unread_about(options: argparse.Namespace) -> None:
    """Refuse to state a purpose and the like where nothing would say it."""
    given = [name for name in ABOUT if getattr(options, name) is not None]
    if given and options.report is None:
        raise InputError(f"--{given[0]} stands in a report: give --report as well", code="report-about")
