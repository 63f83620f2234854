"""`kohorte risk`: how likely people can be found in a table, and which rows stand out."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, class_sizes, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.report_options import about, add_report_options, reader, refuse_unread_about, report_view
from kohorte.errors import InputError
from kohorte.in_words import count, number, percent
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from polars import DataFrame

    from kohorte.data import TableFile
    from kohorte.plans import Plan
    from kohorte.plans.parts import About
    from kohorte.risks import RiskComparison, RiskProfile
    from kohorte.risks.shown.alike import JudgedBy
    from kohorte.risks.uniqueness import Uniqueness

EPILOG = """\
examples:
  kohorte risk patients.csv --plan plan.yaml                                  a table before it is anonymized
  kohorte risk release.csv --plan plan.yaml --population-size 80000000        a release, known as a sample
  kohorte risk patients.csv --plan plan.yaml --compare release.csv            before and after
  kohorte risk patients.csv --plan plan.yaml --rows 10                        who stands out, by row number
  kohorte risk patients.csv --plan plan.yaml --report report.html             as a page, for people
  kohorte risk release.csv --plan plan.yaml --policy policy.yaml              weighted; exit code 1 above its limit
  kohorte risk release.csv --plan plan.yaml --original patients.csv           a release of a plan that counts people

Rows are alike if they show the same in all quasi-identifiers of the plan. Rows that show only * are suppressed and not
counted, as long as the plan's suppression limit allows that many; otherwise they are a class. If the plan says with
person whom a row is about, people are counted, as far as it is known whom the rows are about.
Nothing that is printed is a value of the table."""

KNOWS = {
    "prosecutor": "looks for one person and knows that the person is in the table",
    "journalist": "looks for anybody, and does not know who is in the table",
    "marketer": "looks for as many people as possible",
}
ALIKE = {
    "rows": "rows are alike if they show the same in",
    "people": "people are alike if they have a row that shows the same in",
    "sets": "people are alike if all their rows together show the same in",
}
TRACED = {
    "rows": "how likely is a row traced to its person?",
    "people": "how likely is a person found? (by the row at the highest risk)",
    "sets": "how likely is a person found? (by all rows together)",
}
ALONE = {
    "rows": ("is the only one of its kind", "are the only ones of their kind"),
    "people": ("has a row that nobody else has", "have a row that nobody else has"),
    "sets": ("has rows that together nobody else has", "have rows that together nobody else has"),
}
"""By what the figures judge: rows, people by each row, people by the set of all their rows."""

SHOWN_SETS = 5
LISTED_IN_REPORT = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    people = parser.add_mutually_exclusive_group()
    people.add_argument("--population", metavar="FILE", help="a table of the whole population that DATA is a part of")
    people.add_argument("--population-size", type=float, metavar="N", help="number of people in the population")
    people.add_argument("--sampling-fraction", type=float, metavar="F", help="share of the population that is in DATA")
    parser.add_argument(
        "--original", metavar="FILE", help="the table that DATA was made from, which says whom a row is about (person)"
    )
    parser.add_argument("--threshold", type=float, default=0.2, metavar="R", help="highest accepted risk (default 0.2)")
    parser.add_argument(
        "--sets", type=int, metavar="N", help="largest set of attributes (default 4, or what is feasible; 0: none)"
    )
    parser.add_argument(
        "--rows", type=int, default=0, metavar="N", help="list the N rows at the highest risk by number"
    )
    parser.add_argument("--policy", metavar="FILE", help="weights of the measures, and a limit (YAML)")
    parser.add_argument("--compare", metavar="AFTER", help="compare with this table, such as a release of DATA")
    add_report_options(parser, "write a report for people, as one HTML page")
    parser.add_argument("--force", action="store_true", help="replace an existing report")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, measure, print."""
    if options.rows < 0:
        raise InputError("--rows: the number of rows to list must be at least 0", code="risk-rows")
    options.report_view = report_view(options)
    options.reader = reader(options)
    refuse_unread_about(options)
    with TerminalProgress.of(options) as progress:
        profile, after, certified = _profiles(options, progress)
    notes = tuple(dict.fromkeys((*profile.open_points, *(() if after is None else after.open_points), *certified)))
    from kohorte.risks import compare_risks

    if options.json:
        shown = profile if after is None else compare_risks(profile, after)
        print_json(shown.to_dict(rows=options.rows) | {"warnings": list(notes)})
    elif after is not None:
        _print_comparison(compare_risks(profile, after))
    else:
        _print_profile(profile, rows=options.rows, cut=options.sets is None)
    for note in () if options.json else notes:
        print(f"note: {note}")
    if options.report is not None and not options.json:
        print(f"report: {options.report}")
    judged = profile if after is None else after
    return 1 if judged.weighted is not None and judged.weighted.within_limit is False else 0


def _profiles(
    options: argparse.Namespace, progress: TerminalProgress
) -> tuple[RiskProfile, RiskProfile | None, list[str]]:
    """Measure the table, and the one that it is compared with; write the report.

    The last are open points that only the certificate next to the table tells, where no original does.
    """
    progress.stage(Stage.CHECKING, "the plan")
    from kohorte.data import read_table, without_quotes
    from kohorte.plans import Plan
    from kohorte.release.write import certified_points, only_certified
    from kohorte.risks import RiskPolicy, risk
    from kohorte.risks.comparison import before_and_after

    stated, plan = about(options), Plan.from_yaml(options.plan)
    _refuse_report(options, plan)
    policy: RiskPolicy | None = None if options.policy is None else RiskPolicy.from_yaml(options.policy)

    def read(path: str) -> TableFile:
        progress.reading(path)
        return read_table(path, separator=options.separator, encoding=options.encoding)

    population = None if options.population is None else read(options.population).frame
    known = None if options.original is None else read(options.original).frame

    def measure(frame: object, *, original: object = None, in_rows: bool = False) -> RiskProfile:
        return risk(
            frame,
            plan,
            original=original if known is None else known,
            in_rows=in_rows,
            population_size=options.population_size,
            sampling_fraction=options.sampling_fraction,
            population=population,
            threshold=options.threshold,
            largest_set=options.sets,
            policy=policy,
            progress=progress,
        )

    data = read_data(options, progress)
    compared = None if options.compare is None else read(options.compare)
    table = without_quotes(data, plan.formulas)[0].frame
    after = None
    if compared is None:
        before = measure(table)
    else:
        before, after = before_and_after(table, without_quotes(compared, plan.formulas)[0].frame, measure)
    if options.report is not None:
        progress.stage(Stage.WRITING, "the report")
        other = None if compared is None or after is None else (compared, after)
        _write_report(options, stated, plan, (data, before), other, known)
    alone = known is None and compared is None
    return before, after, only_certified(certified_points(data, plan), before.open_points) if alone else []


def _refuse_report(options: argparse.Namespace, plan: Plan) -> None:
    """Refuse a report that cannot be written, before any work is done."""
    if options.report is None:
        return
    from kohorte.pages import refuse_page

    read = (options.data, options.plan, options.policy, options.population, options.original, options.compare)
    needed = (*(path for path in read if path is not None), *plan.files())
    refuse_page(Path(options.report), needed=needed, force=options.force)


def _write_report(
    options: argparse.Namespace,
    stated: About,
    plan: Plan,
    data: tuple[TableFile, RiskProfile],
    after: tuple[TableFile, RiskProfile] | None,
    original: DataFrame | None,
) -> None:
    from kohorte.pages import write_text
    from kohorte.release.write import certificate_beside
    from kohorte.report.facts import Facts, Measured, view_named
    from kohorte.report.page import to_html

    facts = Facts(
        plan,
        view_named(options.report_view),
        Measured.of_file(*data, plan),
        after=None if after is None else Measured.of_file(*after, plan),
        original=original,
        listed=options.rows or LISTED_IN_REPORT,
        about=stated,
        language=options.reader,
        certificate_sha256=certificate_beside((data if after is None else after)[0]),
    )
    write_text(Path(options.report), to_html(facts), force=options.force)


def _print_comparison(comparison: RiskComparison) -> None:
    lines = [
        (name.replace("_", " "), _figure(before), _figure(after))
        for name, before, after in comparison.figures
        if not name.startswith(("estimated", "average")) and (before, after) != (None, None)
    ]
    print_table(["", "before", "after"], lines)
    _print_unit(comparison.after)
    _print_weighted(comparison.after)


def _figure(figure: int | float | None) -> str:
    return count(figure) if isinstance(figure, int) else percent(figure)


def _print_profile(profile: RiskProfile, *, rows: int, cut: bool) -> None:
    whom = "" if profile.people is None else f" of {count(profile.people, 'person', 'people')}"
    rows_in_all = f"{count(profile.rows, 'row')}{whom}, {count(profile.suppressed)} suppressed"
    sizes = class_sizes(profile.classes, profile.smallest_class, profile.unit)
    if profile.judged_by == "sets" and profile.smallest_class is not None:
        fewest = profile.unit.count(profile.smallest_class)
        sizes = f"{count(profile.classes, 'class', 'classes')}, the smallest group with the same set of them: {fewest}"
    print(f"{rows_in_all}; {sizes}")
    _print_unit(profile)
    print(f"{ALIKE[profile.judged_by]} {', '.join(profile.quasi_identifiers)}")
    _print_attackers(profile)
    _print_uniqueness(profile.uniqueness, profile.judged_by)
    _print_sets(profile, cut=cut)
    _print_suspected(profile)
    if rows:
        _print_rows(profile, rows)
    _print_weighted(profile)


def _print_unit(profile: RiskProfile) -> None:
    """Say what is counted, where that is not plain."""
    if profile.people_not_counted:
        hint = "" if profile.open_points else " (--original FILE)"
        print(f"open: the figures count rows, not people; several rows can be about one person{hint}")
    if profile.people_losing_all_rows:
        print(f"{count(profile.people_losing_all_rows, 'person', 'people')}: every row is suppressed")


def _print_attackers(profile: RiskProfile) -> None:
    threshold, many = percent(profile.attackers.threshold), profile.unit.many
    print(f"\n{TRACED[profile.judged_by]}")
    told = profile.attackers.by_figures
    header = ["attacker", "succeeds", "highest risk", f"of {many}", "lowest risk", f"{many} above {threshold}"]
    lines = [
        (
            name,
            percent(attacker.success_rate),
            percent(attacker.highest_risk),
            count(attacker.at_highest_risk),
            percent(attacker.lowest_risk),
            count(attacker.above_threshold),
        )
        for name, attacker in told
    ]
    print_table(header, lines)
    if profile.attackers.told_apart:
        for name, attacker in told:
            print(f"  {name}: {KNOWS[name]} ({attacker.basis})")
    else:
        print(f"  {told[0][1].basis}, so that the three cannot be told apart")
    spread = [interval for interval in profile.distribution if interval.count]
    if spread:
        print("\nhow is the risk spread? (prosecutor, in percent)")
        print_table(["risk", many, "share"], [(one.interval, one.count, percent(one.share)) for one in spread])


def _print_uniqueness(found: Uniqueness, judged_by: JudgedBy) -> None:
    alone = ALONE[judged_by][found.sample_uniques != 1]
    print(f"\nunique {found.unit.many}: {count(found.sample_uniques)} ({percent(found.sample_share)}) {alone}")
    if found.population_size is None:
        print("people unique in the population: unknown (give --population-size, --sampling-fraction or --population)")
        return
    if found.population_uniques is None or found.unique_in_both is None:
        print("people unique in the population: no estimate")
    else:
        known = {"population": "counted in its table", "count": "nothing had to be estimated"}
        how = known.get(str(found.by), f"estimated by {found.by}")
        print(
            f"people unique in the population of {number(found.population_size)}: "
            f"{number(round(found.population_uniques))} ({percent(found.population_share)}), {how}; "
            f"{number(round(found.unique_in_both))} of them in the table"
        )
    for estimate in found.estimates:
        if estimate.estimator != "dankar":
            figure = f"no estimate: {estimate.reason}" if estimate.uniques is None else number(round(estimate.uniques))
            print(f"  {estimate.estimator}: {figure}")


def _print_sets(profile: RiskProfile, *, cut: bool) -> None:
    """Print the attribute sets that single people out; `cut` if no largest size was given."""
    from kohorte.risks.attribute_sets import USUAL_SIZE

    special = profile.special_uniques
    if not profile.attribute_sets:
        return
    if cut and special.largest < min(USUAL_SIZE, len(profile.quasi_identifiers)):
        print(f"\nattribute sets up to {special.largest}: more would be too many (--sets)")
    most = count(special.largest, "attribute")
    print(f"\n{special.unit.count(special.count)} can be singled out by at most {most}")
    if special.dis is not None:
        what = f"a {special.unit.one} that is unique in the table"
        print(f"a match with {what} is right with probability {percent(special.dis)} (DIS)")
    telling = [found for found in profile.telling_sets if found.singled_out][:SHOWN_SETS]
    if telling:
        print("which attributes single people out, where fewer do not?")
        lines = [
            (", ".join(found.attributes), found.singled_out, percent(found.distinction), percent(found.separation))
            for found in telling
        ]
        print_table(["attributes", special.unit.many, "distinction", "separation"], lines)


def _print_suspected(profile: RiskProfile) -> None:
    if profile.suspected_identifiers:
        print("\ncolumns that look like identifiers")
    for found in profile.suspected_identifiers:
        warning = "PROBLEM: " if found.problem else ""
        print(f"  {warning}{found.attribute!r} ({found.role}) looks like {found.identifier}: {found.why}")


def _print_rows(profile: RiskProfile, most: int) -> None:
    print("\nrows at the highest risk (1 is the first row below the header)")
    dis = profile.special_uniques.dis is not None
    lines = [
        (
            row.row,
            row.class_size,
            percent(row.risk),
            number(row.score),
            *([percent(row.dis_suda)] if dis else []),
            "; ".join(" + ".join(names) for names in row.singled_out_by) or "nothing smaller than all",
        )
        for row in profile.riskiest_rows(most)
    ]
    alike = "alike" if profile.people is None else "people alike"
    header = ["row", alike, "risk", "score", *(["DIS-SUDA"] if dis else []), "singled out by"]
    print_table(header, lines)


def _print_weighted(profile: RiskProfile) -> None:
    weighted = profile.weighted
    if weighted is None:
        return
    verdict = ""
    if weighted.limit is not None:
        verdict = f", {'within' if weighted.within_limit else 'ABOVE'} the limit of {percent(weighted.limit)}"
    print(f"\nrisk weighted by the policy: {percent(weighted.risk)}{verdict}")
