"""Job actions: parse, call one service, render."""

from contextlib import suppress
from typing import Any, Final

from waterclock.domain.access import Caller
from waterclock.domain.errors import NotFound
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.tagging import Taggable
from waterclock.faces.glue.job_spec import job_spec
from waterclock.faces.glue.render import job_wire
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire, page_of, paged

PAGE: Final = 100
# A job cannot be without these: an update that leaves them out keeps them. All else is overwritten, as AWS does.
KEPT: Final = ("Command", "Role")


async def create_job(services: Services, caller: Caller, body: Body) -> Wire:
    tags = body.get("Tags", {})
    definition = {name: value for name, value in body.items() if name != "Tags"}
    job = await services.jobs.create(caller, NAMESPACE, body["Name"], job_spec(definition), definition, tags)
    return {"Name": job.name}


async def update_job(services: Services, caller: Caller, body: Body) -> Wire:
    def revise(job: Job) -> tuple[JobSpec, dict[str, Any]]:
        kept = {name: job.definition[name] for name in KEPT if name in job.definition}
        definition = {"Name": job.name, **kept, **body["JobUpdate"]}
        return job_spec(definition), definition

    job = await services.jobs.update(caller, NAMESPACE, body["JobName"], revise)
    return {"JobName": job.name}


async def delete_job(services: Services, caller: Caller, body: Body) -> Wire:
    """A job that is not there is gone already: no error."""
    with suppress(NotFound):
        await services.jobs.delete(caller, NAMESPACE, body["JobName"])
    return {"JobName": body["JobName"]}


async def get_job(services: Services, caller: Caller, body: Body) -> Wire:
    return {"Job": job_wire(await services.jobs.get(caller, NAMESPACE, body["JobName"]))}


async def get_jobs(services: Services, caller: Caller, body: Body) -> Wire:
    page = await services.jobs.list(caller, [NAMESPACE], page_of(body, size=PAGE))
    return paged("Jobs", [job_wire(job) for job in page.items], page.next_token)


async def list_jobs(services: Services, caller: Caller, body: Body) -> Wire:
    asked = page_of(body, size=PAGE)
    if body.get("Tags"):
        found = await services.tags.names(caller, Taggable.JOB, NAMESPACE, body["Tags"], asked)
        return paged("JobNames", list(found.items), found.next_token)
    page = await services.jobs.list(caller, [NAMESPACE], asked)
    return paged("JobNames", [job.name for job in page.items], page.next_token)


async def batch_get_jobs(services: Services, caller: Caller, body: Body) -> Wire:
    names = list(dict.fromkeys(body["JobNames"]))
    found = await services.jobs.get_many(caller, NAMESPACE, names)
    return {
        "Jobs": [job_wire(found[name]) for name in names if name in found],
        "JobsNotFound": [name for name in names if name not in found],
    }


ACTIONS: Final[dict[str, Handler]] = {
    "CreateJob": create_job,
    "UpdateJob": update_job,
    "DeleteJob": delete_job,
    "GetJob": get_job,
    "GetJobs": get_jobs,
    "ListJobs": list_jobs,
    "BatchGetJobs": batch_get_jobs,
}
