"""The calls that make, change and read each kind of thing, and what they are given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from waterclock.faces.cli.importing.thing import Kind, Thing
from waterclock.faces.glue.model import shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    create: str
    update: str
    get: str
    named: str  # the member that names the thing
    shown: str  # the member of the answer that is the thing
    changed: str | None = None  # the member, and the shape, that hold the change; None: they stand beside the name


CALLS: Final[Mapping[Kind, Calls]] = {
    Kind.JOB: Calls(
        create="create_job", update="update_job", get="get_job", named="JobName", shown="Job", changed="JobUpdate"
    ),
    Kind.WORKFLOW: Calls(
        create="create_workflow", update="update_workflow", get="get_workflow", named="Name", shown="Workflow"
    ),
    Kind.TRIGGER: Calls(
        create="create_trigger",
        update="update_trigger",
        get="get_trigger",
        named="Name",
        shown="Trigger",
        changed="TriggerUpdate",
    ),
}
FIXED: Final = ("Type", "WorkflowName")  # of a trigger: no update changes them


def creation(made: Thing) -> dict[str, Any]:
    return {**made.body, **({"Tags": dict(made.tags)} if made.tags else {})}


def change(wanted: Thing) -> dict[str, Any]:
    calls = CALLS[wanted.kind]
    if calls.changed is None:
        return dict(wanted.body)
    members = shape(calls.changed)["members"]
    body = {name: value for name, value in wanted.body.items() if name in members and name != "Name"}
    return {calls.named: wanted.name, calls.changed: body}


def naming(thing: Thing) -> dict[str, Any]:
    return {CALLS[thing.kind].named: thing.name}
