"""All shapes of this face by their names, for /openapi.json."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.lake import RunSortField, SortField, TableFormat
from waterclock.domain.lake_checks import LONGEST_PATH
from waterclock.domain.lake_work import WORDS
from waterclock.faces.api.call import LONGEST_PAGE
from waterclock.faces.lake import listing, schedule, work
from waterclock.faces.lake.errors import ANSWERS
from waterclock.faces.lake.job_schemas import JOB, NEW_JOB, NEW_JOBS, OUTPUT, SCHEDULE_TIME
from waterclock.faces.lake.shapes import (
    ANYTHING,
    COUNT,
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
    page_of,
    ref,
    sent,
    several,
    text,
    whole,
)
from waterclock.faces.lake.source_schemas import SOURCE_SCHEMAS

TABLE_NAME: Final = {**text(), "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
REASONS: Final = tuple(dict.fromkeys(reason for _, _, reason in ANSWERS))
PAGE: Final = {"keyword": text(least=0), "from": whole(0, listing.MOST_OFFSET), "size": whole(0, LONGEST_PAGE)}


def asking(fields: type[SortField] | type[RunSortField], more: Mapping[str, Schema]) -> Schema:
    sort = sent({"field": one_of(list(fields)), "order": one_of(list(listing.ORDERS))}, ("field",))
    return sent({**PAGE, "sorts": several(sort, listing.MOST_SORTS), **more})


SCHEMAS: Final[Mapping[str, Schema]] = {
    "Error": all_of({"code": whole(400, 599), "reason": one_of(REASONS), "message": {"type": "string"}}),
    "Success": all_of({"success": FLAG}),
    "ScheduleTime": SCHEDULE_TIME,
    "Output": OUTPUT,
    "NewJob": NEW_JOB,
    "NewJobs": NEW_JOBS,
    "Job": JOB,
    "Jobs": page_of(ref("Job")),
    "AskJobs": asking(SortField, {}),
    "Status": all_of(
        {
            "job_id": ID,
            "current_sync_status": STATUS,
            "last_sync_status": STATUS,
            "last_run_time": TIME_OR_NONE,
            "next_run_time": TIME_OR_NONE,
            "run_id": {**ID, "type": ["integer", "null"]},
            "progress": ANYTHING,
        }
    ),
    "Run": all_of(
        {
            "run_id": ID,
            "job_id": ID,
            "job_name": text(),
            "job_type": text(64),
            "start_time": TIME_OR_NONE,
            "end_time": TIME_OR_NONE,
            "updated_time": TIME,
            "job_status": STATUS,
            "message": LONG,
            "stats": ANYTHING,
            "log_id": {**LONG, "description": "of /api/v1/runs/{id}/log"},
        }
    ),
    "Runs": page_of(ref("Run")),
    "AskRuns": asking(RunSortField, {"job_id": ID}),
    "Now": sent({"at_time": TIME, "mode": one_of(list(schedule.MODES))}),
    "Started": all_of({"success": FLAG, "run_id": ID}),
    "Table": all_of(
        {
            "name": TABLE_NAME,
            "format": one_of(list(TableFormat)),
            "path": {**text(LONGEST_PATH), "pattern": "^(/|file:///|hdfs://|s3://)"},
        }
    ),
    "MadeTable": all_of({"table": ref("Table")}),
    "Tables": page_of(ref("Table")),
    "AskTables": sent(PAGE),
    "Next": all_of(
        {
            "has_job": FLAG,
            "data": {
                "oneOf": [
                    {"type": "null"},
                    obj(
                        {
                            "run_id": ID,
                            "job": ANYTHING,
                            "arguments": ANYTHING,
                            "attempt": whole(0, work.MOST_ATTEMPTS),
                        },
                        ("run_id", "job", "attempt"),
                    ),
                ]
            },
        }
    ),
    "Report": sent(
        {
            "run_id": ID,
            "job_id": ID,
            "attempt": whole(0, work.MOST_ATTEMPTS),
            "job_status": one_of(list(WORDS)),
            "message": text(work.LONGEST_MESSAGE, least=0),
            "total_sync_record": COUNT,
            "total_execution_time": COUNT,
            "updated_time": TIME,
        },
        ("run_id", "job_status"),
    ),
    "Reported": obj(
        {"success": FLAG, "kill": FLAG, "job_status": STATUS, "message": LONG},
        ("success",),
    ),
    **SOURCE_SCHEMAS,
    "Live": page_of({"allOf": [ref("Run"), all_of({"progress": ANYTHING})]}),
}
