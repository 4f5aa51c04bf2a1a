"""`waterclock chain plan`: what a chain becomes, stage by stage, and when; also of a file that is not applied yet."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from waterclock.faces.cli.chain.finding import find, on_chains
from waterclock.faces.cli.chain.words import span
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.output import Columns, as_json, print_json, print_list, printable

COLUMNS: Final[Columns] = {
    "STAGE": lambda line: line["stage"],
    "NEEDS": lambda line: line["needs"],
    "NODE": lambda line: line["node"],
    "TITLE": lambda line: line["title"],
    "RUNS": lambda line: line["runs"],
    "WITHIN": lambda line: line["within"],
    "PROBED": lambda line: line["probed"],
}

Plan = Mapping[str, Any]


@click.command()
@click.argument("chain_id", metavar="[ID]", required=False)
@click.option(
    "-f", "--file", "files", metavar="FILE", multiple=True, help="Of what is in this file; -: standard input."
)
@as_json
@on_chains
def plan(client: Client, chain_id: str | None, files: Sequence[str], as_json: bool) -> None:
    """Show the stages of the chain ID, or of the chains in FILE: what each needs, what it runs, and the next fires.

    \b
    Examples:
      waterclock chain plan 'nightly load'
      waterclock chain plan -f nightly.yaml
    """
    if (chain_id is None) == (not files):
        raise Refused("name a chain, or a file with -f")
    found = _of_files(client, files) if files else [_of_chain(client, chain_id or "")]
    if as_json:
        print_json(found[0] if chain_id else found)
        return
    for number, each in enumerate(found):
        if number:
            click.echo()
        print_plan(each)


def print_plan(found: Plan) -> None:
    click.echo(printable(found["title"]))
    print_list(stage_lines(found["stages"]), COLUMNS, to_json=False)
    click.echo(
        f"runs on: {', '.join(found['roles']) or 'any node, only by hand: it has neither main_flag nor BKP_flag'}"
    )
    click.echo(f"next: {', '.join(found['next_fires']) or 'never'}")


def stage_lines(stages: Sequence[Plan]) -> list[dict[str, Any]]:
    """One a node; the stage that it needs the whole of by its name, else the nodes."""
    whole = {frozenset(node["node"] for node in stage["nodes"]): stage["name"] for stage in stages}
    return [
        {
            "stage": stage["name"],
            "needs": whole.get(frozenset(stage["needs"])) or ", ".join(stage["needs"]) or None,
            "node": node["node"],
            "title": node["title"],
            "runs": f"{node['env']} {node['command']}",
            "within": span(node["timeout_seconds"]),
            "probed": _probed(node),
        }
        for stage in stages
        for node in stage["nodes"]
    ]


def _probed(node: Plan) -> str | None:
    if node["kind"] != "gate":
        return None
    return f"every {span(node['every_seconds'])} for {span(node['for_seconds'])}, {node['tolerates']} errors borne"


def _of_chain(client: Client, given: str) -> dict[str, Any]:
    chain = find(client, given)
    return {"title": chain["job_desc"] or chain["name"], **client.get(path("chains", str(chain["id"]), "plan"))}


def _of_files(client: Client, files: Sequence[str]) -> list[dict[str, Any]]:
    from waterclock.faces.cli.chain.applying import plan_of, read_files

    return [{"title": each.title, **plan_of(client, each)} for each in read_files(files)]
