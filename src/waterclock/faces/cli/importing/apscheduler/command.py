"""`waterclock import apscheduler`: jobs from APScheduler's table, shown first, made when asked to."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

import click

from waterclock.faces.cli.failure import FAILED, Refused
from waterclock.faces.cli.importing.applying import Done
from waterclock.faces.cli.importing.apscheduler import report
from waterclock.faces.cli.importing.apscheduler.children import Answer, unpickled
from waterclock.faces.cli.importing.apscheduler.place import Place
from waterclock.faces.cli.importing.apscheduler.plan import Step, plan
from waterclock.faces.cli.importing.apscheduler.reading import Row, Source, read
from waterclock.faces.cli.importing.apscheduler.report import Result
from waterclock.faces.cli.importing.apscheduler.target import Target
from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.cli.output import as_json, print_json, say

TABLE: Final = "apscheduler_jobs"
WARNING: Final = (
    "each row is a pickle, which can run any code when it is read. If you trust everybody who could write to the table,"
    " --trust-pickle reads them in a child process, which is started in this directory"
)


@click.command()
@click.argument("url")
@click.option("--table", metavar="NAME", default=TABLE, show_default=True, help="APScheduler's table.")
@click.option("--schema", metavar="NAME", help="Where that table is.  [default: the database's own]")
@click.option("--trust-pickle", is_flag=True, help="Read the pickles: they can run any code as you.")
@click.option("--to", "to_url", metavar="URL", help="The job store to write to.  [default: the same database]")
@click.option("--to-table", metavar="NAME", help="The tablename of that store.  [default: as it is there]")
@click.option(
    "--serializer",
    type=click.Choice(["json", "pickle"]),
    default="json",
    show_default=True,
    help="`pickle` also carries arguments that JSON cannot hold.",
)
@click.option("--apply", "really", is_flag=True, help="Make it so; without it nothing is changed.")
@click.option("--update", is_flag=True, help="With --apply: change what is here but different.")
@as_json
def apscheduler(
    url: str,
    table: str,
    schema: str | None,
    trust_pickle: bool,
    to_url: str | None,
    to_table: str | None,
    serializer: str,
    really: bool,
    update: bool,
    as_json: bool,
) -> None:
    """Compare the jobs of an APScheduler 3 job store with ours, and with --apply make what is missing.

    URL is the one that SQLAlchemyJobStore has: sqlite:///jobs.sqlite, postgresql://user@host/name, mysql://…, with or
    without a driver's name. That table is only read. Run it where your program runs: its modules must be importable.
    It may be repeated at any time: what is here and the same is passed over.

    \b
    Examples:
      waterclock import apscheduler sqlite:///jobs.sqlite
      waterclock import apscheduler sqlite:///jobs.sqlite --trust-pickle
      waterclock import apscheduler sqlite:///jobs.sqlite --trust-pickle --apply
      waterclock import apscheduler postgresql+psycopg2://app@db/app --trust-pickle --to sqlite:///jobs.db --apply
    """
    if update and not really:
        raise Refused("--update goes with --apply; without it nothing is changed")
    source = Source(place=Place.from_url(url), table=table, schema=schema)
    place = source.place if to_url is None else Place.from_url(to_url, "--to")
    target = Target(place=place, table=to_table or source.name)
    rows = read(source)
    say(f"read {len(rows)} jobs from {source}")
    ends = {"from": str(source), "to": str(target)}
    if rows and not trust_pickle:
        _list(rows, ends, to_json=as_json)
    steps = plan(_answered(rows, serializer), target.here(), target.namespace)
    if going := report.going_on(steps):
        say(f"{going} job(s) are to run here from their next run time on: stop the program that runs them there first")
    if not really:
        _show(steps, ends, to_json=as_json)
        return
    results = _carried_out(steps, target, update=update)
    if as_json:
        print_json({**ends, **report.plan_json(steps), **report.results_json(results)})
    if any(result.done is Done.LEFT_OUT for result in results):
        raise click.exceptions.Exit(FAILED)


def _list(rows: Sequence[Row], ends: dict[str, str], *, to_json: bool) -> None:
    """All that can be said without reading the pickles; and no more is done."""
    if to_json:
        print_json({**ends, **report.rows_json(rows)})
    else:
        report.print_rows(rows)
    raise Refused(WARNING)


def _answered(rows: Sequence[Row], serializer: str) -> Sequence[Answer]:
    """In their order; those that nothing can be made of are not read at all."""
    found: list[Answer] = []
    for lost, group in groupby(rows, key=lambda row: row.problem is not None):
        some = list(group)
        if lost:
            found += [Answer(row=row, reason=row.problem) for row in some]
        else:
            found += unpickled(some, serializer=serializer)
    return found


def _show(steps: Sequence[Step], ends: dict[str, str], *, to_json: bool) -> None:
    if to_json:
        print_json({**ends, **report.plan_json(steps)})
        return
    report.print_plan(steps)
    say(f"nothing was changed in {ends['to']}: --apply makes it so")


def _carried_out(steps: Sequence[Step], target: Target, *, update: bool) -> Sequence[Result]:
    """All that can be carried over is written at once, and then told."""
    wanted = (Verdict.CREATE, Verdict.DIFFERS) if update else (Verdict.CREATE,)
    jobs = [step.job for step in steps if step.verdict in wanted and step.job is not None]
    if jobs:
        target.write(jobs, replace={step.id for step in steps if update and step.verdict is Verdict.DIFFERS})
    results = [Result(step=step, done=_done(step.verdict, update)) for step in steps]
    for number, result in enumerate(results, 1):
        say(f"[{number}/{len(results)}] {report.line(result)}")
    say(report.summary(results))
    return results


def _done(verdict: Verdict, update: bool) -> Done:
    match verdict:
        case Verdict.CREATE:
            return Done.CREATED
        case Verdict.DIFFERS:
            return Done.UPDATED if update else Done.LEFT
        case Verdict.SAME:
            return Done.SAME
        case Verdict.CANNOT:
            return Done.LEFT_OUT
