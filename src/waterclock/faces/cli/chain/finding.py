"""Which chain is meant: by its number, or by a job_desc that no other has."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from waterclock.faces.cli.chain.live import RUNNING
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.output import printable

ROOT: Final = ""  # the face has its own paths at the top

on_chains = partial(connected, base=ROOT)

Chain = dict[str, Any]


def find(client: Client, given: str) -> Chain:
    """Or Refused, that says how to name it."""
    if (number := given.removeprefix("chain-")).isdecimal():
        found: Chain = client.get(path("chains", number))
        return found
    return among(list(client.items("/chains")), given)


def find_all(client: Client, given: Sequence[str]) -> list[Chain]:
    """All of them before anything is done to the first."""
    return [find(client, each) for each in given]


def among(chains: Sequence[Chain], job_desc: str) -> Chain:
    same = [chain for chain in chains if chain["job_desc"] == job_desc]
    if not same:
        raise Refused(f"no chain is called {job_desc!r}: see waterclock chain list")
    if len(same) > 1:
        ids = ", ".join(str(chain["id"]) for chain in same)
        raise Refused(f"{len(same)} chains are called {job_desc!r}: give the id, of {ids}")
    return same[0]


def live_run_of(chain: Chain) -> int:
    last = chain["last_run"]
    if last is None or last["status"] != RUNNING:
        raise Refused(f"{title_of(chain)} has no live run")
    return int(last["run_id"])


def title_of(chain: Chain) -> str:
    return printable(f"chain {chain['id']} ({chain['job_desc']})" if chain["job_desc"] else f"chain {chain['id']}")
