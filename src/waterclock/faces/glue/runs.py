"""Run actions: parse, call one service, render. What Glue calls a job run is one attempt of ours."""

from typing import Final

from waterclock.domain.access import Caller
from waterclock.faces.glue.job_spec import check_capacity, notify_after_seconds, timeout_seconds
from waterclock.faces.glue.render import run_wire
from waterclock.faces.glue.repeats import digest_of
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire, page_of, paged
from waterclock.stores.ops.starting import RunRequest
from waterclock.stores.ops.stopping import StopAnswer

PAGE: Final = 200
# What a run may set for itself and GetJobRun shows again.
SETTINGS: Final = (
    *("AllocatedCapacity", "MaxCapacity", "WorkerType", "NumberOfWorkers", "ExecutionClass"),
    *("SecurityConfiguration", "NotificationProperty", "ExecutionRoleSessionPolicy"),
)


async def start_job_run(services: Services, caller: Caller, body: Body) -> Wire:
    job_name, previous = body["JobName"], body.get("JobRunId")
    check_capacity(body)
    if previous is not None:
        await services.runs.get(caller, previous, namespace=NAMESPACE, job_name=job_name)
    request = RunRequest(
        job_name=job_name,
        arguments=body.get("Arguments", {}),
        settings={name: body[name] for name in SETTINGS if name in body},
        timeout_seconds=timeout_seconds(body),
        notify_after_seconds=notify_after_seconds(body),
        previous_wire_id=previous,
        queueing=body.get("JobRunQueuingEnabled"),
    )
    digest = digest_of("StartJobRun", caller, body)
    return {"JobRunId": await services.runs.start_one(caller, NAMESPACE, request, digest=digest)}


async def get_job_run(services: Services, caller: Caller, body: Body) -> Wire:
    attempt = await services.runs.get(caller, body["RunId"], namespace=NAMESPACE, job_name=body["JobName"])
    return {"JobRun": run_wire(attempt, now=services.now())}


async def get_job_runs(services: Services, caller: Caller, body: Body) -> Wire:
    page = await services.runs.of_job(caller, NAMESPACE, body["JobName"], page_of(body, size=PAGE))
    now = services.now()
    return paged("JobRuns", [run_wire(attempt, now=now) for attempt in page.items], page.next_token)


async def batch_stop_job_run(services: Services, caller: Caller, body: Body) -> Wire:
    job_name, ids = body["JobName"], list(dict.fromkeys(body["JobRunIds"]))
    answers = await services.runs.stop(caller, ids, namespace=NAMESPACE, job_name=job_name)
    return {
        "SuccessfulSubmissions": [
            {"JobName": job_name, "JobRunId": answer.wire_id} for answer in answers if answer.accepted
        ],
        "Errors": [_stop_error(job_name, answer) for answer in answers if not answer.accepted],
    }


def _stop_error(job_name: str, answer: StopAnswer) -> Wire:
    if answer.state is None:
        code, message = "EntityNotFoundException", f"Job run {answer.wire_id} of job {job_name} not found"
    else:
        code, message = "JobRunInTerminalStateException", f"Job run {answer.wire_id} is {answer.state} already"
    return {
        "JobName": job_name,
        "JobRunId": answer.wire_id,
        "ErrorDetail": {"ErrorCode": code, "ErrorMessage": message},
    }


ACTIONS: Final[dict[str, Handler]] = {
    "StartJobRun": start_job_run,
    "GetJobRun": get_job_run,
    "GetJobRuns": get_job_runs,
    "BatchStopJobRun": batch_stop_job_run,
}
