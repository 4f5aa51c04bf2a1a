"""A lake job as it is sent, in the seed's shape or the later one; what is kept, and shown, is the seed's."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake import LakeDraft, LakeKind
from waterclock.domain.lake_schedule import every_minutes, schedule_of
from waterclock.domain.lake_sync import ALIASES, SYNC_KINDS, SyncKind
from waterclock.domain.moment import Moment
from waterclock.faces.api.fields import MOST_SECONDS, Fields, Reader, several, text
from waterclock.faces.api.jobs import MOST_RETRIES, labels, queue
from waterclock.faces.lake import kinds, sync_rules, syncs
from waterclock.faces.lake.fields import LAST_MILLISECOND, known, millisecond, read_known, whole

WITHIN: Final = "job."
LONGEST_WORD: Final = 1_000
LONGEST_ZONE: Final = 64
MOST_DAYS: Final = 100
# What a `class_name` is to the engine; it is shown as it was sent.
Kind = LakeKind | SyncKind
CLASSES: Final[Mapping[str, Kind]] = {
    **{kind.value: kind for kind in LakeKind},
    **{kind.value: kind for kind in SyncKind},
    **ALIASES,
}
JOB_TYPES: Final[Mapping[Kind, str]] = {
    LakeKind.JAVA: "Java",
    LakeKind.SQL: "Sql",
    LakeKind.PYTHON: "Python",
    SyncKind.DB: "SyncDb",
    SyncKind.SERVICE: "SyncService",
    SyncKind.FILE: "SyncFile",
}


def class_name(field: str, value: object) -> str:
    if not isinstance(value, str) or value not in CLASSES:
        raise InvalidInput(f"must be one of {', '.join(CLASSES)}", field=field, value=value)
    return value


def simple(field: str, value: object) -> object:
    """What it must be is said by who reads schedules: here only that it is small."""
    if isinstance(value, str):
        return text(LONGEST_WORD, least=0)(field, value)
    return whole(-LAST_MILLISECOND, LAST_MILLISECOND)(field, value)


DAYS: Final = ("include_days", "recur_on_days")
SCHEDULE: Final[dict[str, Reader]] = {
    **dict.fromkeys(("class_name", "start_time", "recur_every", "recur_every_month"), simple),
    **dict.fromkeys(("at_hour", "at_minute", "at_second"), simple),
    **dict.fromkeys(DAYS, several(simple, MOST_DAYS)),
    "expression": text(LONGEST_WORD),
    "timezone": text(LONGEST_ZONE),
}
# `name` is the later shape's.
COMMON: Final[Fields] = {
    "class_name": class_name,
    "display_name": text(),
    "name": text(),
    "job_type": text(64),
    "last_run_time": millisecond,
    "schedule_time": known(SCHEDULE),
}
OPTIONS: Final[Fields] = {
    "retries": whole(0, MOST_RETRIES),
    "timeout_seconds": whole(1, MOST_SECONDS),
    "queue": queue,
    "labels": labels,
}


def draft_of(data: object, *, timezone: str, now: Moment) -> LakeDraft:
    """`timezone` is that of a schedule_time that names none. What only the server decides is passed over."""
    kind = CLASSES[read_known(data, COMMON, required=("class_name",), within=WITHIN)["class_name"]]
    given = read_known(data, {**COMMON, **_fields(kind), **OPTIONS}, within=WITHIN)
    definition, options = _definition(kind, given), {name: given[name] for name in OPTIONS if name in given}
    schedule_time = definition["schedule_time"]
    try:
        schedule, every = schedule_of(schedule_time, timezone=timezone, now=now), every_minutes(schedule_time)
    except InvalidInput as problem:
        raise InvalidInput(problem.reason, field=f"{WITHIN}{problem.field}", value=problem.value) from None
    return LakeDraft(
        display_name=definition["display_name"],
        class_name=kind,
        job_type=definition["job_type"],
        definition=definition,
        task={name: definition[name] for name in shown(kind) if name in definition},
        schedule_time=schedule_time,
        schedule=schedule,
        every_minutes=every,
        **options,
    )


def shown(kind: str) -> Sequence[str]:
    """What it is told to do, in the order in which an answer has it."""
    return syncs.SHOWN if kind in SYNC_KINDS else kinds.SHOWN


def _definition(kind: Kind, given: dict[str, Any]) -> dict[str, Any]:
    """In the seed's shape and order, with no more than was said."""
    display_name = given.get("display_name", given.get("name"))
    if display_name is None:
        raise InvalidInput("is required", field=f"{WITHIN}display_name")
    said = {
        "class_name": given["class_name"],
        "display_name": display_name,
        "job_type": given.get("job_type", JOB_TYPES[kind]),
        "last_run_time": given.get("last_run_time"),
        "schedule_time": given.get("schedule_time", {"class_name": "none_schedule"}),
        **_task(kind, given),
        **{name: given.get(name) for name in OPTIONS},
    }
    return {name: value for name, value in said.items() if value is not None}


def _fields(kind: Kind) -> Fields:
    return syncs.FIELDS[kind] if isinstance(kind, SyncKind) else kinds.FIELDS[kind]


def _task(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(kind, SyncKind):
        return sync_rules.task_of(kind, given, within=WITHIN)
    return kinds.task_of(kind, given, within=WITHIN)
