"""Glue's service model, as botocore ships it: what each action takes, gives and may refuse with.

Nothing is copied from it by hand. It is read on first use (no client, no session, no network); of its 300 operations
only the shapes that our actions reach are kept, without their documentation, and checks are compiled when first needed.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from waterclock.faces.glue.shapes import Check, Checks, Shape
from waterclock.faces.glue.violation import Violation

ACTIONS: Final = tuple(
    """
    CreateJob UpdateJob GetJob GetJobs ListJobs BatchGetJobs DeleteJob
    StartJobRun GetJobRun GetJobRuns BatchStopJobRun
    GetJobBookmark ResetJobBookmark
    CreateTrigger UpdateTrigger StartTrigger StopTrigger DeleteTrigger GetTrigger GetTriggers
    ListTriggers BatchGetTriggers
    CreateWorkflow UpdateWorkflow DeleteWorkflow GetWorkflow ListWorkflows BatchGetWorkflows
    StartWorkflowRun StopWorkflowRun ResumeWorkflowRun GetWorkflowRun GetWorkflowRuns
    GetWorkflowRunProperties PutWorkflowRunProperties
    TagResource UntagResource GetTags
    """.split()  # noqa: SIM905 (38 quoted names are harder to read)
)


def validate(action: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body, without nulls, if the model allows it for this action; else `InvalidInput` naming the member."""
    try:
        accepted: dict[str, Any] = input_check(action)(body)
    except Violation as violation:
        raise violation.as_refusal() from None
    return accepted


@cache
def input_check(action: str) -> Check:
    return _checks().of(input_shape(action))


def input_shape(action: str) -> str:
    name: str = _model()["operations"][action]["input"]["shape"]
    return name


def output_shape(action: str) -> str:
    name: str = _model()["operations"][action]["output"]["shape"]
    return name


def shape(name: str) -> Shape:
    """One shape as the model has it, without documentation: `shape("Job")["members"]` are the names GetJob may show."""
    found: Shape = _model()["shapes"][name]
    return found


@cache
def declared_errors(action: str) -> frozenset[str]:
    """The exceptions that the model lets this action answer with; clients have a class for each."""
    return frozenset(error["shape"] for error in _model()["operations"][action].get("errors", ()))


@cache
def _checks() -> Checks:
    return Checks(_model()["shapes"])


@cache
def _model() -> Mapping[str, Mapping[str, Any]]:
    # Imported here: botocore costs 0.1 s, and only a process that answers Glue requests should pay it.
    # A loader of our own, dropped at once: it would keep the whole parsed model.
    from botocore.loaders import Loader

    whole = Loader().load_service_model("glue", "service-2")
    operations = {action: _undocumented(whole["operations"][action]) for action in ACTIONS}
    return {"operations": operations, "shapes": _reachable(operations.values(), whole["shapes"])}


def _reachable(operations: Iterable[Shape], shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    kept: dict[str, Shape] = {}
    ahead = [operation[side]["shape"] for operation in operations for side in ("input", "output")]
    while ahead:
        name = ahead.pop()
        if name not in kept:
            kept[name] = _undocumented(shapes[name])
            ahead.extend(_parts(kept[name]))
    return kept


def _parts(of: Shape) -> Iterator[str]:
    yield from (member["shape"] for member in of.get("members", {}).values())
    yield from (of[part]["shape"] for part in ("member", "key", "value") if part in of)


def _undocumented(node: Any) -> Any:
    match node:
        case list():
            return [_undocumented(item) for item in node]
        case dict():
            # A member may itself be called "documentation": only text is one.
            return {
                name: _undocumented(item)
                for name, item in node.items()
                if not (name == "documentation" and isinstance(item, str))
            }
    return node
