"""Files made so: read whole, compared, checked by the server, and only then changed, one chain after another.

It may be stopped anywhere and run again: each chain is one call, and what is as the file says is passed over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from waterclock.domain.chain import check, schedule_of
from waterclock.domain.errors import BadSchedule, InvalidInput
from waterclock.faces.api.fields import read
from waterclock.faces.chains.definition import FIELDS, REQUIRED, spec_of
from waterclock.faces.cli.chain.comparing import Change, Verdict, compare, new_body
from waterclock.faces.cli.chain.fields import Body
from waterclock.faces.cli.chain.place import Fault, nearest
from waterclock.faces.cli.chain.yaml_file import Definition, read_chains
from waterclock.faces.cli.client import Client, Lost, path
from waterclock.faces.cli.content import STDIN, read_content
from waterclock.faces.cli.failure import Failure, Refused
from waterclock.faces.cli.output import say

UTC: Final = "UTC"


class Done(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    change: Change
    done: Done
    chain_id: int | None
    why: str | None = None


def read_files(files: Sequence[str]) -> list[Definition]:
    """All chains of all files, or Refused with each fault on a line of its own."""
    definitions, faults = list[Definition](), list[Fault]()
    for file in files:
        name = "standard input" if file == STDIN else file
        found, wrong = read_chains(_content(file), name)
        definitions += found
        faults += wrong
    refuse(faults)
    return definitions


def refuse(faults: Sequence[Fault]) -> None:
    """If there are any: nothing has been changed yet."""
    if len(faults) == 1:
        raise Refused(str(faults[0]))
    if faults:
        for fault in faults:
            say(str(fault))
        raise Refused(f"{len(faults)} faults, nothing was changed")


def planned(client: Client, files: Sequence[str]) -> list[Change]:
    """What would have to be changed; each change has been checked by the rules, here and at the server."""
    definitions = read_files(files)
    changes, faults = compare(definitions, list(client.items("/chains")))
    refuse(faults)
    to_make = [change for change in changes if change.verdict is not Verdict.SAME]
    refuse([fault for change in to_make if (fault := _broken_rule(change.definition, change.body))])
    plans = [_plan(client, change.definition, change.body) for change in to_make]
    refuse([plan for plan in plans if isinstance(plan, Fault)])
    return changes


def plan_of(client: Client, definition: Definition) -> dict[str, Any]:
    """As the server would compile it."""
    body = new_body(definition)
    fault = _broken_rule(definition, body)
    plan = fault or _plan(client, definition, body)
    if isinstance(plan, Fault):
        raise Refused(str(plan))
    return plan


def carry_out(client: Client, changes: Sequence[Change]) -> Iterator[Result]:
    """What was done, as it is done; a chain that is refused does not hold up the rest."""
    for change in changes:
        try:
            yield _made(client, change)
        except Lost:
            raise
        except Failure as problem:
            yield Result(change=change, done=Done.FAILED, chain_id=change.chain_id, why=problem.format_message())


def _content(file: str) -> str:
    try:
        return read_content(file)
    except OSError as problem:
        raise Refused(f"{file}: {problem.strerror}") from None


def _made(client: Client, change: Change) -> Result:
    match change.verdict:
        case Verdict.SAME:
            return Result(change=change, done=Done.UNCHANGED, chain_id=change.chain_id)
        case Verdict.UPDATE:
            client.put(path("chains", str(change.chain_id)), change.body)
            return Result(change=change, done=Done.UPDATED, chain_id=change.chain_id)
    return Result(change=change, done=Done.CREATED, chain_id=client.post("/chains", change.body)["id"])


def _broken_rule(definition: Definition, body: Body) -> Fault | None:
    """By the server's own code: the places are known only here."""
    try:
        spec = spec_of(read(body, FIELDS, required=REQUIRED), timezone=UTC)
        check(spec)
        schedule_of(spec)
    except BadSchedule as problem:
        return _fault(definition, "timezone" if problem.part == "timezone" else "timestr", str(problem))
    except InvalidInput as problem:
        return _fault(definition, problem.field or "", problem.reason)
    return None


def _plan(client: Client, definition: Definition, body: Body) -> dict[str, Any] | Fault:
    """Nothing is stored by it; what only the server knows is found out."""
    try:
        found: dict[str, Any] = client.post("/chains/plan", body)
    except Refused as problem:
        return _fault(definition, "", problem.format_message())
    return found


def _fault(definition: Definition, field: str, reason: str) -> Fault:
    place = nearest(definition.places, field) or definition.place
    return Fault(place=place, at=definition.path(field), reason=reason)
