"""`waterclock chain apply|diff|export`: chains as YAML files, and back."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from waterclock.faces.cli.chain.applying import Done, Result, carry_out, planned
from waterclock.faces.cli.chain.comparing import Change, Verdict, diff_lines
from waterclock.faces.cli.chain.finding import among, on_chains
from waterclock.faces.cli.chain.yaml_writing import export_yaml
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.failure import FAILED, Refused
from waterclock.faces.cli.output import as_json, print_json, printable, say

STDOUT: Final = "-"
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}

from_files = click.option(
    "-f", "--file", "files", metavar="FILE", multiple=True, required=True, help="Repeatable; -: standard input."
)


@click.command()
@from_files
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@as_json
@on_chains
def apply(client: Client, files: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Make chains as YAML files say: what is missing is created, what differs is replaced, the rest is left alone.

    All files are read and checked in full before the first change. A chain is found by its `id`, else by its
    `job_desc`. Where a file does not name `switch` or `timezone`, a stored chain keeps its own.

    \b
    A file is one chain, several documents, or a list:
      chains:
      - job_desc: nightly load
        timestr: 0 2 * * *
        dep_ot: 120                       # minutes for all gates together
        deps:
        - {desc: orders are there, command: checks/orders.py, ottime: 1}
        jobs:
        - {job_desc: load, step_lvl: 1, command: load/main.py;orders, ottime: 30}

    \b
    Example:
      waterclock chain apply -f nightly.yaml -f hourly.yaml --dry-run
    """
    changes = planned(client, files)
    say(f"{len(changes)} chain(s) in {len(files)} file(s) checked")
    if dry_run:
        _tell_plan(changes, to_json=as_json)
        return
    results = _carried_out(client, changes, quiet=as_json)
    if as_json:
        print_json([_result_json(result) for result in results])
    if any(result.done is Done.FAILED for result in results):
        raise click.exceptions.Exit(FAILED)


@click.command()
@from_files
@on_chains
def diff(client: Client, files: Sequence[str]) -> None:
    """Show what `apply` would change, as `diff -u` does. Exits with 0 if nothing, 1 if something, 2 on errors.

    \b
    Example:
      waterclock chain diff -f nightly.yaml
    """
    try:
        changes = [change for change in planned(client, files) if change.verdict is not Verdict.SAME]
    except click.ClickException as problem:
        raise Refused(problem.format_message()) from None  # 1 would mean that there are differences
    for change in changes:
        for line in diff_lines(change):
            click.echo(click.style(printable(line), fg=COLOURS.get(line[0])) if line else "")
    if changes:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("chain_ids", metavar="[ID]...", nargs=-1)
@click.option("-o", "--output", metavar="FILE", default=STDOUT, help="Write it here.  [default: stdout]")
@on_chains
def export(client: Client, chain_ids: Sequence[str], output: str) -> None:
    """Write chains, or all of them, as YAML that `apply` reads.

    \b
    Example:
      waterclock chain export 'nightly load' -o nightly.yaml
    """
    stored = list(client.items("/chains"))
    chosen = [_stored(stored, each) for each in chain_ids] or stored
    if not chosen:
        raise Refused("there are no chains")
    text = export_yaml(chosen, stored)
    if output == STDOUT:
        click.echo(text, nl=False)
    else:
        _write(Path(output), text)
        say(f"{len(chosen)} chain(s) written to {output}")


def _stored(stored: Sequence[dict[str, object]], given: str) -> dict[str, object]:
    if not (number := given.removeprefix("chain-")).isdecimal():
        return among(stored, given)
    found = [chain for chain in stored if chain["id"] == int(number)]
    if not found:
        raise Refused(f"chain {number} not found")
    return found[0]


def _write(target: Path, text: str) -> None:
    """Whole or not at all."""
    beside = target.with_name(f".{target.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(target)


def _tell_plan(changes: Sequence[Change], *, to_json: bool) -> None:
    if to_json:
        print_json([_change_json(change) for change in changes])
        return
    for change in changes:
        words = change.verdict if change.verdict is Verdict.SAME else f"would {change.verdict}"
        click.echo(_line(words, change, change.chain_id, ", ".join(change.differs) or None))
    say("nothing was changed")


def _carried_out(client: Client, changes: Sequence[Change], *, quiet: bool) -> list[Result]:
    """Each result is told as it comes; whatever ends it, what was done is summed up."""
    results: list[Result] = []
    try:
        for result in carry_out(client, changes):
            results.append(result)
            if not quiet:
                click.echo(_line(result.done, result.change, result.chain_id, result.why))
    finally:
        counts = Counter(result.done for result in results)
        told = ", ".join(f"{counts[done]} {done}" for done in Done if counts[done])
        left = len(changes) - len(results)
        say(f"{told or 'nothing was done'}{f'; {left} not reached: apply again' if left else ''}")
    return results


def _line(words: str, change: Change, chain_id: int | None, why: str | None) -> str:
    number = "-" if chain_id is None else chain_id
    return printable(f"{words}  {number}  {change.definition.title}{f': {why}' if why else ''}")


def _change_json(change: Change) -> dict[str, object]:
    return {
        "id": change.chain_id,
        "job_desc": change.definition.job_desc,
        "verdict": change.verdict,
        "differs": list(change.differs),
        "at": str(change.definition.place),
    }


def _result_json(result: Result) -> dict[str, object]:
    job_desc = result.change.definition.job_desc
    return {"id": result.chain_id, "job_desc": job_desc, "done": result.done, "why": result.why}
