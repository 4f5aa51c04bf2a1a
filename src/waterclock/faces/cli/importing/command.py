"""`waterclock import glue`: jobs, triggers and workflows from any Glue endpoint, shown first, made when asked to."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from waterclock import clock
from waterclock.domain.moment import to_datetime
from waterclock.faces.cli.connecting import DATA_DIR, SERVER
from waterclock.faces.cli.failure import FAILED, Refused
from waterclock.faces.cli.importing import report
from waterclock.faces.cli.importing.applying import Applying, Done, Result
from waterclock.faces.cli.importing.endpoint import Endpoint
from waterclock.faces.cli.importing.judging import judge
from waterclock.faces.cli.importing.opening import source, target
from waterclock.faces.cli.importing.plan import Plan, plan
from waterclock.faces.cli.importing.reading import chosen, known
from waterclock.faces.cli.importing.thing import Kind, Thing
from waterclock.faces.cli.lazy import LazyGroup
from waterclock.faces.cli.output import as_json, print_json, say

NOT_CARRIED: Final = (Done.FAILED, Done.LEFT_OUT)
SCHEDULERDB: Final = "waterclock.faces.cli.importing.schedulerdb.command:schedulerdb"
APSCHEDULER: Final = "waterclock.faces.cli.importing.apscheduler.command:apscheduler"


class Kinds(click.ParamType[tuple[Kind, ...]]):
    """`jobs,triggers`"""

    name = "kinds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Kind, ...]:
        if isinstance(value, tuple):
            return value
        plurals = {f"{kind}s": kind for kind in Kind}
        words = [word.strip() for word in str(value).split(",")]
        for word in words:
            if word not in plurals:
                self.fail(f"{word!r} is none of {', '.join(plurals)}", param, ctx)
        return tuple(kind for word, kind in plurals.items() if word in words)


@click.group("import", cls=LazyGroup, lazy={"schedulerdb": SCHEDULERDB, "apscheduler": APSCHEDULER})
def importing() -> None:
    """Bring in what is kept elsewhere.

    \b
    Examples:
      waterclock import glue --from-profile prod --region eu-west-1
      waterclock import glue --from-profile prod --only jobs --names 'etl-*' --apply
      waterclock import glue --from-endpoint http://old-server:8470 --apply --start
      waterclock import schedulerdb mysql://ops:secret@old-host/schedulerDB --timezone Asia/Seoul
      waterclock import apscheduler sqlite:///jobs.sqlite
    """


@importing.command()
@click.option("--from-endpoint", metavar="URL", help="Read from this address.  [default: AWS]")
@click.option("--from-profile", metavar="PROFILE", help="Read with this profile of yours.  [default: as AWS's SDKs do]")
@click.option("--region", help="Read from this region.  [default: the profile's]")
@click.option("--only", "kinds", type=Kinds(), default=tuple(Kind), help="Of jobs,triggers,workflows, these.")
@click.option("--names", metavar="GLOB", default="*", help="Only those whose name matches.")
@click.option("--server", "--to-endpoint", envvar="WATERCLOCK_SERVER", default=SERVER, show_default=True, help="Ours.")
@click.option("--to-profile", metavar="PROFILE", help="Sign for our server with this profile of yours.")
@click.option(
    "--data-dir",
    envvar="WATERCLOCK_DATA_DIR",
    type=click.Path(path_type=Path),
    help=f"Else sign with the key in the server's data directory.  [default: ./{DATA_DIR}]",
)
@click.option("--apply", "really", is_flag=True, help="Make it so; without it nothing is changed.")
@click.option("--update", is_flag=True, help="With --apply: change what is here but different.")
@click.option("--start", is_flag=True, help="With --apply: start, last, the triggers that are ACTIVATED there.")
@as_json
def glue(
    from_endpoint: str | None,
    from_profile: str | None,
    region: str | None,
    kinds: tuple[Kind, ...],
    names: str,
    server: str,
    to_profile: str | None,
    data_dir: Path | None,
    really: bool,
    update: bool,
    start: bool,
    as_json: bool,
) -> None:
    """Compare the jobs, triggers and workflows of a Glue endpoint with ours, and with --apply make what is missing.

    The report says what would be made, what is here already, what cannot be carried over, and what will behave
    otherwise. It may be stopped and repeated at any time: what is here and the same is passed over.
    """
    if from_endpoint is None and from_profile is None and region is None:
        raise Refused("say where to read: --from-endpoint URL, or --from-profile PROFILE, or --region REGION of AWS")
    if (update or start) and not really:
        raise Refused("--update and --start go with --apply; without it nothing is changed")
    there, here = source(from_endpoint, from_profile, region), target(server, to_profile, data_dir)
    for endpoint in (there, here):
        endpoint.greet()
    planned = _planned(there, here, kinds, names)
    if not really:
        _show(planned, there, here, to_json=as_json)
        return
    total = len(planned.steps) + (sum(step.starts for step in planned.steps) if start else 0)
    results = _carried_out(planned, Applying(here, update=update, start=start), total)
    if as_json:
        print_json({"from": str(there), "to": str(here), **report.plan_json(planned), **report.results_json(results)})
    if any(result.done in NOT_CARRIED for result in results):
        raise click.exceptions.Exit(FAILED)


def _counted(things: Sequence[Thing]) -> str:
    counts = Counter(thing.kind for thing in things)
    return ", ".join(f"{counts[kind]} {kind}s" for kind in Kind)


def _planned(there: Endpoint, here: Endpoint, kinds: Sequence[Kind], names: str) -> Plan:
    wanted = chosen(there, kinds, names, say)
    say(f"read {_counted(wanted)} from {there}")
    return plan(wanted, known(here, wanted, say), partial(judge, now=to_datetime(clock.wall_us())))


def _show(planned: Plan, there: Endpoint, here: Endpoint, *, to_json: bool) -> None:
    if to_json:
        print_json({"from": str(there), "to": str(here), **report.plan_json(planned)})
        return
    report.print_plan(planned)
    say(f"nothing was changed at {here}: --apply makes it so")


def _carried_out(planned: Plan, applying: Applying, total: int) -> list[Result]:
    """Each result is told as it comes; whatever ends it, what was done is summed up."""
    results: list[Result] = []
    try:
        for result in applying.carry_out(planned):
            results.append(result)
            say(f"[{len(results)}/{total}] {report.line(result)}")
    finally:
        say(report.summary(results))
    return results
