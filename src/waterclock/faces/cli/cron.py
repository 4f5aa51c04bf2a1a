"""`waterclock cron next`: when a schedule would fire. Needs no server."""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

import click

from waterclock import clock
from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import from_datetime, to_datetime, to_iso
from waterclock.domain.schedule import parse_schedule
from waterclock.faces.iso import from_iso

MOST: Final = 10_000
STDIN: Final = "-"


@click.group()
def cron() -> None:
    """Look at schedules: crontab, Quartz, AWS cron(), rate() and at().

    \b
    Examples:
      waterclock cron next '0 30 2 * * ?' --tz Europe/Berlin
      waterclock cron next 'rate(5 minutes)' --from 2026-11-15T12:00:00Z -n 3 --json
    """


@cron.command("next")
@click.argument("expression", metavar="EXPR")
@click.option("--tz", "zone", default="UTC", show_default=True, help="The schedule's time zone (IANA).")
@click.option(
    "--from", "start", metavar="ISO", help="After this moment; without an offset it means UTC.  [default: now]"
)
@click.option("-n", "count", type=click.IntRange(1, MOST), default=5, show_default=True, help="How many fires.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of UTC times.")
def next_fires(expression: str, zone: str, start: str | None, count: int, as_json: bool) -> None:
    """Print the next fires of EXPR, in UTC.

    With `-` for EXPR, lines EXPR<TAB>ZONE<TAB>FROM are read from standard input (ZONE and FROM may be missing), and
    each is answered by one line: a JSON list, or {"error": "..."}.
    """
    if expression == STDIN:
        _answer_lines(zone, start, count)
        return
    fires = preview(expression, zone, start, count)
    if as_json:
        click.echo(json.dumps([_utc(fire) for fire in fires]))
        return
    for fire in fires:
        click.echo(_utc(fire) + _local(fire, zone))


def preview(expression: str, zone: str, start: str | None, count: int) -> Sequence[datetime]:
    schedule = parse_schedule(expression, timezone=zone)
    moment: datetime | None = from_iso(start, field="from") if start else to_datetime(clock.wall_us())
    found: list[datetime] = []
    while moment is not None and len(found) < count:
        moment = schedule.next_after(moment)
        if moment is not None:
            found.append(moment)
    return found


def answer(line: bytes, zone: str, start: str | None, count: int) -> str:
    """One line in, one line of JSON out."""
    fields = line.rstrip(b"\r\n").decode(errors="replace").split("\t")
    try:
        if len(fields) > 3:
            raise InvalidInput("a line is EXPR<TAB>ZONE<TAB>FROM")
        expression, of_zone, of_start = (*fields, "", "")[:3]
        fires = preview(expression, of_zone.strip() or zone, of_start.strip() or start, count)
    except InvalidInput as problem:
        return json.dumps({"error": str(problem)}, ensure_ascii=True)
    return json.dumps([_utc(fire) for fire in fires])


def _answer_lines(zone: str, start: str | None, count: int) -> None:
    for line in sys.stdin.buffer:
        sys.stdout.write(answer(line, zone, start, count) + "\n")
        sys.stdout.flush()  # whoever asks line by line is answered line by line


def _utc(moment: datetime) -> str:
    return to_iso(from_datetime(moment))


def _local(moment: datetime, zone: str) -> str:
    """For people only: what is piped on is the UTC time alone."""
    if zone == "UTC" or not sys.stdout.isatty():
        return ""
    return moment.astimezone(ZoneInfo(zone)).strftime("  %a %Y-%m-%d %H:%M:%S %Z")
