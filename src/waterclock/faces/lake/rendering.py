"""Lake jobs and their runs as they are shown: names, order and shape are the seed's."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.lake import LakeJob, LakeRun, LakeTable, status_of
from waterclock.domain.moment import Moment
from waterclock.domain.run import UNBEGUN, Attempt
from waterclock.faces.lake.definition import OPTIONS
from waterclock.faces.lake.definition import shown as shown_of

MILLISECOND: Final = 1_000

Rendered = Mapping[str, object]


def job(found: LakeJob) -> Rendered:
    """It can be sent back as it is."""
    given = found.definition
    shown: dict[str, object] = {
        "class_name": given["class_name"],
        "org_id": found.org_id,
        "job_id": found.id,
        "creator_id": found.creator,
        "display_name": found.display_name,
        "job_type": found.job_type,
        "last_run_time": last_run_time(found),
        "next_run_time": milliseconds(found.next_run_at),
        "last_sync_status": status_of(found.last_ended, found.now, found.class_name),
        "current_sync_status": status_of(found.last_run, found.now, found.class_name),
        "schedule_time": given["schedule_time"],
    }
    told = (*shown_of(found.class_name), *OPTIONS)
    return {"job": {**shown, **{name: given[name] for name in told if name in given}}}


def status(found: LakeJob) -> Rendered:
    return {
        "job_id": found.id,
        "current_sync_status": status_of(found.last_run, found.now, found.class_name),
        "last_sync_status": status_of(found.last_ended, found.now, found.class_name),
        "last_run_time": last_run_time(found),
        "next_run_time": milliseconds(found.next_run_at),
        "run_id": found.last_run.run_id if found.last_run else None,
        "progress": found.progress,
    }


def run(found: LakeRun) -> Rendered:
    """`log_id` is what /api/v1 knows the run by, where its log is read and followed."""
    attempt = found.attempt
    return {
        "run_id": attempt.run_id,
        "job_id": found.job_id,
        "job_name": found.display_name,
        "job_type": found.job_type,
        "start_time": milliseconds(attempt.started_at),
        "end_time": milliseconds(attempt.ended_at),
        "updated_time": milliseconds(attempt.updated_at),
        "job_status": status_of(attempt, found.now, found.class_name),
        "message": _message(attempt),
        "stats": found.progress,
        "log_id": attempt.wire_id,
    }


def table(found: LakeTable) -> Rendered:
    return {"name": found.name, "format": found.format, "path": found.path}


def last_run_time(found: LakeJob) -> object:
    """When its last run began, or was asked for; before there was one, what the caller said."""
    if found.last_run is None:
        return found.definition.get("last_run_time")
    return milliseconds(found.last_run.started_at or found.last_run.run_at)


def milliseconds(moment: Moment | None) -> int | None:
    return None if moment is None else moment // MILLISECOND


def _message(attempt: Attempt) -> str:
    waits_for = attempt.wait_reason if attempt.state in UNBEGUN else None
    return attempt.message or waits_for or ""
