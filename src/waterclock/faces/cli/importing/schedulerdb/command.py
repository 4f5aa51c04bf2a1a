"""`waterclock import schedulerdb`: chains from the old scheduler's tables, shown first, made when asked to."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import click

from waterclock.domain.errors import BadSchedule
from waterclock.domain.schedule.zone import find_zone
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import FAILED, Refused
from waterclock.faces.cli.importing.applying import Done
from waterclock.faces.cli.importing.schedulerdb import report
from waterclock.faces.cli.importing.schedulerdb.applying import Applying, Result, chains_here
from waterclock.faces.cli.importing.schedulerdb.judging import judge, strays
from waterclock.faces.cli.importing.schedulerdb.plan import plan
from waterclock.faces.cli.importing.schedulerdb.reading import Source, read
from waterclock.faces.cli.importing.schedulerdb.report import Report
from waterclock.faces.cli.importing.schedulerdb.zone import UTC, machine_zone
from waterclock.faces.cli.output import as_json, print_json, say

NOT_CARRIED: Final = (Done.FAILED, Done.LEFT_OUT)


@click.command()
@click.argument("url")
@click.option("--timezone", metavar="ZONE", help="Of the old scheduler's machine.  [default: this machine's, or UTC]")
@click.option("--name", metavar="NAME", help="Of the source, where there are several.  [default: the database's]")
@click.option("--off", is_flag=True, help="Bring every chain in switched OFF.")
@click.option("--apply", "really", is_flag=True, help="Make it so; without it nothing is changed.")
@click.option("--update", is_flag=True, help="With --apply: change what is here but different.")
@as_json
@partial(connected, base="")
def schedulerdb(
    client: Client,
    url: str,
    timezone: str | None,
    name: str | None,
    off: bool,
    really: bool,
    update: bool,
    as_json: bool,
) -> None:
    """Compare the chains of an old schedulerDB with ours, and with --apply make what is missing.

    URL is mysql://user:password@host:3306/schedulerDB; the password may stand in MYSQL_PWD instead. That database is
    read in one snapshot and never written to. The report says what would be made, what comes in OFF, and what cannot
    be carried over and why. It may be stopped and repeated at any time: what is here and the same is passed over.
    """
    if update and not really:
        raise Refused("--update goes with --apply; without it nothing is changed")
    there = Source.from_url(url)
    found = _found(client, there, timezone=_zone(timezone), name=name or there.place.database, off=off)
    shown = {"from": str(there), "to": client.server, **report.plan_json(found)}
    if not really:
        _show(found, shown, client, to_json=as_json)
        return
    results = _carried_out(found, Applying(client, update=update))
    if as_json:
        print_json({**shown, **report.results_json(results)})
    if any(result.done in NOT_CARRIED for result in results):
        raise click.exceptions.Exit(FAILED)


def _zone(given: str | None) -> str:
    zone = given or machine_zone() or UTC
    try:
        return find_zone(zone).name
    except BadSchedule:
        raise Refused(f"--timezone: there is no time zone {zone!r}; give one such as Asia/Seoul") from None


def _found(client: Client, there: Source, *, timezone: str, name: str, off: bool) -> Report:
    here = chains_here(client)
    tables = read(there)
    say(f"read {len(tables.chains)} chains, {len(tables.gates)} gates, {len(tables.steps)} steps from {there}")
    steps = plan(judge(tables, timezone=timezone, off=off), here, name=name)
    if going := report.going_on(steps):
        say(f"{going} chain(s) run here from their next time on: stop the old scheduler first, or give --off")
    return Report(steps=steps, strays=strays(tables), left=tables.left, timezone=timezone)


def _show(found: Report, shown: dict[str, object], client: Client, *, to_json: bool) -> None:
    if to_json:
        print_json(shown)
        return
    report.print_plan(found)
    say(f"nothing was changed at {client.server}: --apply makes it so")


def _carried_out(found: Report, applying: Applying) -> Sequence[Result]:
    """Each result is told as it comes; whatever ends it, what was done is summed up."""
    results: list[Result] = []
    try:
        for result in applying.carry_out(found.steps):
            results.append(result)
            say(f"[{len(results)}/{len(found.steps)}] {report.line(result)}")
    finally:
        say(report.summary(results))
    return results
