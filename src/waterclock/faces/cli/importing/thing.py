"""A job, workflow or trigger as Create… takes it: read from one Glue endpoint, compared with and made at another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from waterclock.faces.glue.model import input_shape, shape

Body = Mapping[str, Any]
NEVER_SENT: Final = ("Tags", "StartOnCreation")  # tags travel by themselves; a trigger is started last, if at all


class Kind(StrEnum):
    """In the order in which they depend on each other."""

    JOB = "job"
    WORKFLOW = "workflow"
    TRIGGER = "trigger"


CREATE: Final = {Kind.JOB: "CreateJob", Kind.WORKFLOW: "CreateWorkflow", Kind.TRIGGER: "CreateTrigger"}
Place = tuple[Kind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    kind: Kind
    name: str
    body: Body
    tags: Mapping[str, str] | None = None  # None: they could not be read
    active: bool = False  # a trigger that is ACTIVATED

    @property
    def place(self) -> Place:
        return self.kind, self.name

    def needs(self) -> Iterator[Place]:
        """What must be there before it can be made."""
        for part in parts(self.body):
            if "JobName" in part:
                yield Kind.JOB, part["JobName"]
        if "WorkflowName" in self.body:
            yield Kind.WORKFLOW, self.body["WorkflowName"]


def thing(kind: Kind, shown: Body, tags: Mapping[str, str] | None = None) -> Thing:
    """Of what Get… shows, what Create… takes."""
    taken = shape(input_shape(CREATE[kind]))["members"].keys() - NEVER_SENT
    body: Body = {name: value for name, value in shown.items() if name in taken}
    body = without_doubled_capacity(body) if kind is Kind.JOB else body
    return Thing(kind=kind, name=shown["Name"], body=body, tags=tags, active=shown.get("State") == "ACTIVATED")


def parts(trigger: Body) -> Iterator[Body]:
    """Its actions, then its conditions."""
    yield from trigger.get("Actions", ())
    yield from trigger.get("Predicate", {}).get("Conditions", ())


def without_doubled_capacity(job: Body) -> Body:
    """Glue shows a job's size in up to three ways and takes it in one: workers, else MaxCapacity, else the old name."""
    if "WorkerType" in job or "NumberOfWorkers" in job:
        doubled = {"MaxCapacity", "AllocatedCapacity"}
    else:
        doubled = {"AllocatedCapacity"} if "MaxCapacity" in job else set()
    return {name: value for name, value in job.items() if name not in doubled}
