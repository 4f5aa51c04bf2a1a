"""For each action who may call it and what it may refuse with; tools/glue-table writes it into docs/glue.md.

Tests keep it true: every error that is listed is provoked on a real server, no other is ever answered, and each that
the model declares and that is not listed has its reason here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from waterclock.domain.access import RIGHTS, Right, Role
from waterclock.faces.glue.model import ACTIONS, declared_errors

INVALID: Final = "InvalidInputException"
DENIED: Final = "AccessDeniedException"
INTERNAL: Final = "InternalServiceException"
MISSING: Final = "EntityNotFoundException"
TAKEN: Final = "AlreadyExistsException"
FULL: Final = "ConcurrentRunsExceededException"
LIMIT: Final = "ResourceNumberLimitExceededException"
STATE: Final = "IllegalWorkflowStateException"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    right: Right
    rules: str  # their numbers in docs/glue.md
    own: bool = False  # only the owner of what is changed, or an admin
    refuses: tuple[str, ...] = ()  # beside what every action may refuse with

    @property
    def errors(self) -> tuple[str, ...]:
        return (INVALID, *self.refuses, *(() if self.right is Right.READ else (DENIED,)), INTERNAL)

    @property
    def role(self) -> Role:
        """The least that may."""
        return next(role for role in Role if self.right in RIGHTS[role])


def _read(rules: str, *refuses: str) -> Row:
    return Row(right=Right.READ, rules=rules, refuses=refuses)


def _run(rules: str, *refuses: str) -> Row:
    return Row(right=Right.RUN, rules=rules, refuses=refuses)


def _define(rules: str, *refuses: str, own: bool = False) -> Row:
    return Row(right=Right.DEFINE, rules=rules, refuses=refuses, own=own)


ROWS: Final[Mapping[str, Row]] = {
    "CreateJob": _define("1, 10–12", TAKEN, LIMIT),
    "UpdateJob": _define("8", MISSING, own=True),
    "GetJob": _read("1", MISSING),
    "GetJobs": _read("13"),
    "ListJobs": _read("13"),
    "BatchGetJobs": _read("13"),
    "DeleteJob": _define("8", own=True),
    "StartJobRun": _run("2, 10, 11, 14", MISSING, FULL, LIMIT),
    "GetJobRun": _read("2", MISSING),
    "GetJobRuns": _read("13", MISSING),
    "BatchStopJobRun": _run("9"),
    "GetJobBookmark": _read("16", MISSING),
    "ResetJobBookmark": _run("16", MISSING),
    "CreateTrigger": _define("3", MISSING, TAKEN, LIMIT),
    "UpdateTrigger": _define("7", MISSING, own=True),
    "StartTrigger": _run("4, 5", MISSING),
    "StopTrigger": _run("6", MISSING),
    "DeleteTrigger": _define("7", own=True),
    "GetTrigger": _read("4", MISSING),
    "GetTriggers": _read("13", MISSING),
    "ListTriggers": _read("13", MISSING),
    "BatchGetTriggers": _read("13"),
    "CreateWorkflow": _define("15", TAKEN, LIMIT),
    "UpdateWorkflow": _define("15", MISSING, own=True),
    "DeleteWorkflow": _define("15", own=True),
    "GetWorkflow": _read("15", MISSING),
    "ListWorkflows": _read("13"),
    "BatchGetWorkflows": _read("13"),
    "StartWorkflowRun": _run("15", MISSING, FULL, LIMIT),
    "StopWorkflowRun": _run("15", MISSING, STATE),
    "ResumeWorkflowRun": _run("15", MISSING, FULL, STATE),
    "GetWorkflowRun": _read("15", MISSING),
    "GetWorkflowRuns": _read("13", MISSING),
    "GetWorkflowRunProperties": _read("15", MISSING),
    "PutWorkflowRunProperties": _run("15", MISSING),
    "TagResource": _define("17", MISSING, own=True),
    "UntagResource": _define("17", MISSING, own=True),
    "GetTags": _read("17", MISSING),
}

# What the model declares and nobody meets here, and why; of the actions named, or of all that declare it.
NEVER: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "OperationTimeoutException": ((), f"a store that does not answer in time is {INTERNAL}, status 503"),
    LIMIT: (("StartTrigger", "PutWorkflowRunProperties"), "no quota is about these: fires are never refused"),
    "ConcurrentModificationException": ((), "changes to one thing wait for each other"),
    "IdempotentParameterMismatchException": ((), f"a name that is taken is {TAKEN}, whatever comes with it"),
    "ValidationException": ((), f"wrong input is {INVALID}, everywhere"),
    MISSING: (("GetJobs", "ListJobs"), "a list of nothing is empty"),
    FULL: (("StartTrigger",), "a fire over the cap leaves its record: a SKIPPED row (guarded) or a FAILED run (aws)"),
    TAKEN: (("PutWorkflowRunProperties",), "what is put is laid over what is there"),
}

# What is told before an action is reached, whichever it is.
BEFORE: Final[Mapping[str, tuple[int, str]]] = {
    "MissingAuthenticationTokenException": (403, "the request is not signed"),
    "IncompleteSignatureException": (403, "the signature cannot be read, or does not cover what it must"),
    "InvalidSignatureException": (403, "an unknown key, a wrong secret (both look the same), or a date 5 minutes off"),
    "UnrecognizedClientException": (403, "a session token was sent: none are issued here"),
    "UnknownOperationException": (400, "no action that is served here"),
    "SerializationException": (400, "the body is not a JSON object"),
    "RequestEntityTooLargeException": (413, "the body is larger than the setting `body_limit_bytes`"),
    "RequestTimeoutException": (408, "the body did not arrive in 20 seconds"),
}


def never(action: str) -> frozenset[str]:
    """Declared for the action and never answered."""
    found = (name for name, (actions, _) in NEVER.items() if not actions or action in actions)
    return declared_errors(action).intersection(found)


def lines() -> Iterator[str]:
    """In Markdown, as the other two."""
    yield "| action | least role | may refuse with | rules |"
    yield "|---|---|---|---|"
    for action in ACTIONS:
        row = ROWS[action]
        role = f"{row.role}, its owner" if row.own else row.role
        yield f"| {action} | {role} | {' '.join(row.errors)} | {row.rules} |"


def before_lines() -> Iterator[str]:
    yield "| error | status | when |"
    yield "|---|---|---|"
    yield from (f"| {name} | {status} | {when} |" for name, (status, when) in BEFORE.items())


def never_lines() -> Iterator[str]:
    yield "| error | declared for | never answered, because |"
    yield "|---|---|---|"
    for name, (actions, why) in NEVER.items():
        declaring = actions or tuple(action for action in ACTIONS if name in declared_errors(action))
        shown = "every action" if len(declaring) == len(ACTIONS) else " ".join(declaring)
        yield f"| {name} | {shown} | {why} |"
