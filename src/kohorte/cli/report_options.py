"""The options of every verb that writes a report."""

from __future__ import annotations

import argparse

from kohorte.errors import InputError
from kohorte.report.view import View


def add_report_options(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --report and --report-view."""
    parser.add_argument("--report", metavar="FILE", help=text)
    views = [view.value for view in View]
    parser.add_argument("--report-view", choices=views, help="public (default), or internal: with more")


def report_view(options: argparse.Namespace) -> str:
    """The view that was asked for; one without a report is refused."""
    if options.report_view is not None and options.report is None:
        raise InputError("--report-view says who reads a report: give --report as well", code="report-view")
    view: str = options.report_view or View.PUBLIC.value
    return view
