"""Bookmark actions: parse, call one service, render."""

from typing import Final

from waterclock.domain.access import Caller
from waterclock.domain.bookmark import Bookmark
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire

NOTHING: Final = "{}"  # a bookmark that was reset


async def get_job_bookmark(services: Services, caller: Caller, body: Body) -> Wire:
    await _check_run(services, caller, body)
    return _entry(await services.bookmarks.get(caller, NAMESPACE, body["JobName"]))


async def reset_job_bookmark(services: Services, caller: Caller, body: Body) -> Wire:
    await _check_run(services, caller, body)
    return _entry(await services.bookmarks.reset(caller, NAMESPACE, body["JobName"]))


async def _check_run(services: Services, caller: Caller, body: Body) -> None:
    """We keep one bookmark a job, not one a run; a run that is named must be one of the job's all the same."""
    if "RunId" in body:
        await services.runs.get(caller, body["RunId"], namespace=NAMESPACE, job_name=body["JobName"])


def _entry(bookmark: Bookmark) -> Wire:
    shown: Wire = {
        "JobName": bookmark.job_name,
        "Version": bookmark.version,
        "Run": bookmark.runs,
        "Attempt": bookmark.attempt,
        "JobBookmark": NOTHING if bookmark.content is None else bookmark.content,
    }
    runs = {"RunId": bookmark.wire_id, "PreviousRunId": bookmark.previous_wire_id}
    return {"JobBookmarkEntry": shown | {name: value for name, value in runs.items() if value is not None}}


ACTIONS: Final[dict[str, Handler]] = {
    "GetJobBookmark": get_job_bookmark,
    "ResetJobBookmark": reset_job_bookmark,
}
