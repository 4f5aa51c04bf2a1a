"""`waterclock trigger`: when to run what, and what became of it."""

from typing import Any

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.output import as_json, print_json, print_list, print_one
from waterclock.faces.cli.parameters import ARGUMENT, MOMENT, any_namespace, namespace


@click.group()
def trigger() -> None:
    """Decide when to run.

    \b
    Examples:
      waterclock trigger create nightly --job load --schedule '30 2 * * *' --tz Europe/Berlin --start
      waterclock trigger create by-hand --job load --job report
      waterclock trigger next nightly -n 3
      waterclock trigger fires nightly
      waterclock trigger stop nightly
    """


@trigger.command()
@click.argument("name")
@click.option("--job", "jobs", multiple=True, required=True, help="What it runs, in this order; repeatable.")
@click.option("--arg", "arguments", type=ARGUMENT, multiple=True, help="Argument for its jobs; repeatable.")
@click.option("--timeout", "timeout_seconds", type=click.IntRange(1), help="Seconds, for its runs.")
@click.option("--schedule", help="crontab, Quartz, cron(), rate() or at(); without one it fires on demand.")
@click.option("--tz", "timezone", help="The schedule's time zone.  [default: UTC]")
@click.option("--gap", type=click.Choice(["run_at_jump", "skip"]), help="A local time that the clocks skip.")
@click.option("--fold", type=click.Choice(["once", "twice"]), help="A local time that comes twice.")
@click.option("--from", "start_at", type=MOMENT, help="Not before.")
@click.option("--until", "end_at", type=MOMENT, help="Not after.")
@click.option(
    "--jitter", "jitter_seconds", type=click.FloatRange(0), help="Put each fire off by up to so many seconds."
)
@click.option("--exclude", multiple=True, metavar="DATE", help="A day without fires; repeatable.")
@click.option("--misfire", "policy", type=click.Choice(["skip", "one", "all"]), help="What to make up for.")
@click.option("--grace", "grace_seconds", type=click.FloatRange(0), help="Later than this is missed.  [default: 60]")
@click.option("--cap", type=click.IntRange(1), help="With --misfire all: so many at most.")
@click.option("--start", is_flag=True, help="Set it going at once.")
@as_json
@connected
def create(client: Client, name: str, as_json: bool, start: bool, **given: Any) -> None:
    """Define the trigger NAME; it stands by until it is started."""
    if start and not given["schedule"]:
        raise Refused("--start needs --schedule; a trigger without one is fired by `waterclock trigger start`")
    body = {"name": name, "start": start, **_definition(given)}
    print_one(client.post("/triggers", body), to_json=as_json)


@trigger.command("list")
@any_namespace
@click.option("--job", help="Only those that run this job.")
@as_json
@connected
def list_triggers(client: Client, namespace: str | None, job: str | None, as_json: bool) -> None:
    """List all triggers, by name."""
    columns = {
        "NAME": lambda each: each["name"],
        "NAMESPACE": lambda each: each["namespace"],
        "STATE": lambda each: each["state"],
        "SCHEDULE": lambda each: each["schedule"] or each["type"],
        "TIMEZONE": lambda each: each.get("timezone"),
        "NEXT": lambda each: each["next_fire_at"],
        "JOBS": lambda each: ", ".join(action.get("job", "?") for action in each["actions"]),
    }
    print_list(client.items("/triggers", namespace=namespace, job=job), columns, to_json=as_json)


@trigger.command()
@click.argument("name")
@namespace
@as_json
@connected
def show(client: Client, name: str, namespace: str, as_json: bool) -> None:
    """Show the trigger NAME."""
    print_one(client.get(path("triggers", name), namespace=namespace), to_json=as_json)


@trigger.command()
@click.argument("name")
@namespace
@connected
def start(client: Client, name: str, namespace: str) -> None:
    """Set the trigger NAME going; one without a schedule fires once, now."""
    found = client.post(path("triggers", name, "start"), namespace=namespace)
    if found["type"] == "ON_DEMAND":
        click.echo(f"{name} fired")
    else:
        click.echo(f"{name} is {found['state']}, next at {found['next_fire_at'] or 'no time'}")


@trigger.command()
@click.argument("name")
@namespace
@connected
def stop(client: Client, name: str, namespace: str) -> None:
    """Stop the trigger NAME: it fires no more, and its live runs are stopped."""
    found = client.post(path("triggers", name, "stop"), namespace=namespace)
    click.echo(f"{name} is {found['state']}")


@trigger.command()
@click.argument("name")
@namespace
@connected
def delete(client: Client, name: str, namespace: str) -> None:
    """Delete the trigger NAME; its ledger and its runs stay."""
    client.delete(path("triggers", name), namespace=namespace)
    click.echo(f"deleted {name}")


@trigger.command()
@click.argument("name")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")
@namespace
@as_json
@connected
def fires(client: Client, name: str, limit: int, namespace: str, as_json: bool) -> None:
    """Show the ledger of NAME, newest first: every due instant, run or skipped, and why."""
    columns = {
        "FIRE": lambda fire: fire["fire_at"],
        "OUTCOME": lambda fire: fire["outcome"],
        "COUNT": lambda fire: fire["count"],
        "FIRST": lambda fire: fire["first_at"],
        "REASON": lambda fire: fire["reason"],
    }
    found = client.items(path("triggers", name, "fires"), most=limit, namespace=namespace)
    print_list(found, columns, to_json=as_json)


@trigger.command("next")
@click.argument("name")
@click.option("-n", "count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many fires.")
@click.option("--from", "from_", type=MOMENT, help="After this moment.  [default: now]")
@namespace
@as_json
@connected
def next_fires(client: Client, name: str, count: int, from_: str | None, namespace: str, as_json: bool) -> None:
    """Preview the next fires of NAME, in UTC."""
    found = client.get(path("triggers", name, "next"), count=count, from_=from_, namespace=namespace)["fires"]
    if as_json:
        print_json(found)
        return
    for fire in found:
        click.echo(fire)


def _definition(given: dict[str, Any]) -> dict[str, Any]:
    timeout, arguments = given.pop("timeout_seconds"), dict(given.pop("arguments"))
    actions = [{"job": job, "arguments": arguments, "timeout_seconds": timeout} for job in given.pop("jobs")]
    misfire = {name: given.pop(name) for name in ("policy", "grace_seconds", "cap")}
    misfire = {name: value for name, value in misfire.items() if value is not None}
    definition = {name: value for name, value in given.items() if value not in (None, ())}
    return {**definition, "actions": actions, **({"misfire": misfire} if misfire else {})}
