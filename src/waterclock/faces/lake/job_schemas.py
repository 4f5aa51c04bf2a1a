"""Lake jobs as JSON Schema: what fields may hold is what their readers take."""

from collections.abc import Mapping, Sequence
from typing import Final

from waterclock.domain.lake import LakeKind
from waterclock.domain.lake_schedule import MOST_HOURS, MOST_MINUTES
from waterclock.domain.lake_sync import SyncKind
from waterclock.domain.schedule.calendar import MOST
from waterclock.faces.api.fields import MOST_SECONDS
from waterclock.faces.api.jobs import MOST_LISTED, MOST_RETRIES
from waterclock.faces.lake import fields, kinds, many, outputs, sync_schemas, syncs
from waterclock.faces.lake.definition import LONGEST_WORD, LONGEST_ZONE, MOST_DAYS, Kind
from waterclock.faces.lake.shapes import (
    ANYTHING,
    FLAG,
    ID,
    LONG,
    STATUS,
    TIME,
    TIME_OR_NONE,
    Schema,
    all_of,
    obj,
    one_of,
    ref,
    sent,
    several,
    text,
    whole,
)

_AT: Final = {"at_hour": whole(0, 23), "at_minute": whole(0, 59), "at_second": whole(0, 59)}
_ZONE: Final = {"timezone": text(LONGEST_ZONE)}
_START: Final = {"start_time": TIME}
_DAY: Final = {"type": ["string", "integer"], "description": "MONDAY to SUNDAY, or 1 (Monday) to 7"}
# Each class of schedule_time: what it has, and what it must have.
SCHEDULES: Final[Mapping[str, tuple[Mapping[str, Schema], Sequence[str]]]] = {
    "none_schedule": ({}, ()),
    "schedule_once": (_START, ("start_time",)),
    "schedule_minutely": ({"recur_every": whole(1, MOST_MINUTES), **_START}, ("recur_every",)),
    "schedule_hourly": ({"recur_every": whole(1, MOST_HOURS), **_START}, ("recur_every",)),
    "schedule_daily": ({"recur_every": whole(1, MOST), **_START}, ("recur_every",)),
    "schedule_weekly": (
        {"recur_every": whole(1, MOST), **_AT, "include_days": several(_DAY, MOST_DAYS, least=1), **_START},
        ("recur_every", "at_hour", "include_days"),
    ),
    "schedule_monthly": (
        {
            "recur_every_month": whole(1, MOST),
            **_AT,
            "recur_on_days": several(whole(1, 31), MOST_DAYS, least=1),
            **_START,
        },
        ("recur_every_month", "at_hour", "recur_on_days"),
    ),
    "schedule_cron": ({"expression": text(LONGEST_WORD), **_START}, ("expression",)),
}


def _schedule(name: str) -> Schema:
    properties, required = SCHEDULES[name]
    return sent({"class_name": {"const": name}, **properties, **_ZONE}, ("class_name", *required))


def _output(kind: str) -> Schema:
    class_name, readers, required = outputs.CONFIGS[kind]
    shapes = {name: _CONFIG[name] for name in readers if name != "class_name"}
    config = sent({"class_name": {"const": class_name}, **shapes}, required)
    return obj({"type": {"const": kind}, "config": config}, ("type", "config"))


_CONFIG: Final[Mapping[str, Schema]] = {
    "hdfs_uri": text(outputs.LONGEST_PLACE),
    "result_path": text(outputs.LONGEST_PLACE),
    "separator": {**text(outputs.LONGEST_SEPARATOR), "pattern": r'^[^"\\\r\n]+$'},
    "header": FLAG,
    "database": text(),
    "table_name": text(),
    "source": sync_schemas.SOURCE,
    "schema": text(),
    "path": text(outputs.LONGEST_PLACE),
    "write_mode": one_of(list(outputs.WriteMode)),
    "key_columns": sync_schemas.COLUMNS,
    "keep_old_hours": whole(0, outputs.MOST_HOURS),
    "schema_changes": one_of(list(outputs.SchemaChanges)),
}
PLACE: Final = text(kinds.LONGEST_PLACE, least=0)
WORD_LIST: Final = several(text(fields.LONGEST_WORD, least=0), fields.MOST_WORDS)
WORDS: Final = {"oneOf": [WORD_LIST, text(fields.LONGEST_WORD, least=0)]}
_GIT: Final = {
    "git_url": PLACE,
    "branch": text(least=0),
    "credentials": {**text(128), "pattern": "^[A-Za-z0-9_.-]+$"},
}
_OPTIONS: Final = {
    "retries": whole(0, MOST_RETRIES),
    "timeout_seconds": whole(1, MOST_SECONDS),
    "queue": text(64),
    "labels": several(text(), MOST_LISTED),
}
TASKS: Final[Mapping[LakeKind, Mapping[str, Schema]]] = {
    LakeKind.JAVA: {
        **_GIT,
        "build_tool": one_of(list(kinds.BuildTool)),
        **dict.fromkeys(("build_cmd", "main_class", "jar"), PLACE),
        "args": WORDS,
    },
    LakeKind.SQL: {
        "query_info": sent(
            {"query": {**LONG, "minLength": 1}, "outputs": several(ref("Output"), kinds.MOST_OUTPUTS)}, ("query",)
        ),
    },
    LakeKind.PYTHON: {
        **_GIT,
        "code": LONG,
        "script": PLACE,
        "requirements": {"oneOf": [WORD_LIST, LONG]},
        "entrypoint": PLACE,
        "args": WORDS,
    },
}
_GIVEN: Final = {
    "display_name": text(),
    "job_type": text(64),
    "schedule_time": ref("ScheduleTime"),
}
_DECIDED: Final = {
    "org_id": ID,
    "job_id": ID,
    "creator_id": text(),
    "last_run_time": TIME_OR_NONE,
    "next_run_time": TIME_OR_NONE,
    "last_sync_status": STATUS,
    "current_sync_status": STATUS,
}


def _class_name(kind: Kind) -> Schema:
    return sync_schemas.class_names(kind) if isinstance(kind, SyncKind) else {"const": kind.value}


def _task(kind: Kind) -> Mapping[str, Schema]:
    return sync_schemas.TASKS[kind] if isinstance(kind, SyncKind) else TASKS[kind]


def _new_job(kind: Kind) -> Schema:
    given = {"class_name": _class_name(kind), **_GIVEN, "last_run_time": TIME, **_task(kind), **_OPTIONS}
    always = ("class_name", "display_name", *(("source",) if isinstance(kind, SyncKind) else ()))
    said = {"not": {"enum": [None, ""]}}
    what = syncs.READ[kind] if isinstance(kind, SyncKind) else kinds.SOURCES[kind]
    return {**sent(given, always), "oneOf": [{"required": [name], "properties": {name: said}} for name in what]}


def _job(kind: Kind) -> Schema:
    always = {"class_name": _class_name(kind), **_DECIDED, **_GIVEN}
    return obj({**always, **_task(kind), **_OPTIONS}, tuple(always))


KINDS: Final[Sequence[Kind]] = (*LakeKind, *SyncKind)
SCHEDULE_TIME: Final = {"oneOf": [_schedule(name) for name in SCHEDULES]}
OUTPUT: Final = {"oneOf": [_output(kind) for kind in outputs.CONFIGS]}
NEW_JOB: Final = {
    **obj({"job": {"oneOf": [_new_job(kind) for kind in KINDS]}}, ("job",)),
    "description": (
        "What the server decides (job_id, org_id, creator_id, next_run_time, statuses) may be sent and is passed over. "
        "The later shape (name, git_clone_info, query, outputs) is read, too; this one is written."
    ),
}
NEW_JOBS: Final = {
    **obj(
        {"job": ANYTHING, "tables": {"oneOf": [{"const": many.ALL}, several(text(), many.MOST_TABLES, least=1)]}},
        ("job", "tables"),
    ),
    "description": "A sync_db_job without table_name and query; {table} in its destinations stands for the table.",
}
JOB: Final = all_of({"job": {"oneOf": [_job(kind) for kind in KINDS]}})
