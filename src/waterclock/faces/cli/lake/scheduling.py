"""When a lake job runs, as options of a command: one of them, or none for a job that is run by hand."""

import re
from collections.abc import Callable
from typing import Any, Final

import click

from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.lake.definition import milliseconds

_EVERY: Final = re.compile(r"([1-9][0-9]{0,6})\s*([mhd])", re.ASCII)
_CLASSES: Final = {"m": "schedule_minutely", "h": "schedule_hourly", "d": "schedule_daily"}


def scheduled(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(
        (
            click.option("--cron", metavar="EXPR", help="By a cron expression of any dialect, or rate(5 minutes)."),
            click.option("--every", metavar="N", help="Every so often: 10m, 2h, 1d."),
            click.option(
                "--start", metavar="TIME", help="Of --every and --cron: not before; of --every, its first run."
            ),
            click.option("--once", metavar="TIME", help="Once, at this time; ISO 8601."),
            click.option("--now", "is_now", is_flag=True, help="Once, as soon as it is made."),
            click.option("--timezone", metavar="ZONE", help="Of --cron and --every 1d.  [default: the server's]"),
        )
    ):
        command = option(command)
    return command


def schedule_time(given: dict[str, Any]) -> dict[str, Any]:
    """Of these options, which are taken out of `given`."""
    cron, every, start, once = (given.pop(name) for name in ("cron", "every", "start", "once"))
    is_now, timezone = given.pop("is_now"), given.pop("timezone")
    if sum(map(bool, (cron, every, once, is_now))) > 1:
        raise Refused("give one of --cron, --every, --once and --now")
    if start and not (cron or every):
        raise Refused("--start goes with --cron or --every")
    where = {"timezone": timezone} if timezone else {}
    begin = {"start_time": milliseconds(start, "--start")} if start else {}
    if cron:
        return {"class_name": "schedule_cron", "expression": cron, **begin, **where}
    if every:
        return {**_every(every), **begin, **where}
    if once or is_now:
        return {"class_name": "schedule_once", "start_time": milliseconds(once, "--once") if once else 0}
    return {"class_name": "none_schedule"}


def _every(text: str) -> dict[str, Any]:
    if (match := _EVERY.fullmatch(text.strip())) is None:
        raise Refused(f"--every {text}: must be a whole number and m, h or d, such as 10m")
    return {"class_name": _CLASSES[match[2]], "recur_every": int(match[1])}
