"""Trigger actions: parse, call one service, render."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.moment import to_datetime
from waterclock.domain.tagging import Taggable
from waterclock.domain.trigger import Trigger, TriggerSpec
from waterclock.faces.glue.render import trigger_wire
from waterclock.faces.glue.repeats import digest_of
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire, page_of, paged
from waterclock.faces.glue.trigger_spec import starts_on_creation, trigger_spec
from waterclock.services.paging import Page

PAGE: Final = 100
# A trigger cannot be without these: an update that leaves them out keeps them. All else is overwritten, as AWS does.
KEPT: Final = ("Type", "WorkflowName", "StartOnCreation", "Actions", "Schedule", "Predicate")


async def create_trigger(services: Services, caller: Caller, body: Body) -> Wire:
    tags = body.get("Tags", {})
    definition = {name: value for name, value in body.items() if name != "Tags"}
    spec = trigger_spec(definition, now=to_datetime(services.now()))
    start = starts_on_creation(definition)
    await services.triggers.create(caller, NAMESPACE, body["Name"], spec, definition, tags, start=start)
    return {"Name": body["Name"]}


async def update_trigger(services: Services, caller: Caller, body: Body) -> Wire:
    now, update = to_datetime(services.now()), body["TriggerUpdate"]
    if update.get("Name", body["Name"]) != body["Name"]:
        raise InvalidInput("a trigger's name never changes", field="TriggerUpdate.Name", value=update["Name"])

    def revise(trigger: Trigger) -> tuple[TriggerSpec, dict[str, Any]]:
        kept = {name: trigger.definition[name] for name in KEPT if name in trigger.definition}
        definition = {**kept, **update, "Name": trigger.name}
        return trigger_spec(definition, now=now), definition

    return {"Trigger": trigger_wire(await services.triggers.update(caller, NAMESPACE, body["Name"], revise))}


async def start_trigger(services: Services, caller: Caller, body: Body) -> Wire:
    digest = digest_of("StartTrigger", caller, body)
    return {"Name": (await services.triggers.start(caller, NAMESPACE, body["Name"], digest=digest)).name}


async def stop_trigger(services: Services, caller: Caller, body: Body) -> Wire:
    return {"Name": (await services.triggers.stop(caller, NAMESPACE, body["Name"])).name}


async def delete_trigger(services: Services, caller: Caller, body: Body) -> Wire:
    """A trigger that is not there is gone already: no error."""
    with suppress(NotFound):
        await services.triggers.delete(caller, NAMESPACE, body["Name"])
    return {"Name": body["Name"]}


async def get_trigger(services: Services, caller: Caller, body: Body) -> Wire:
    return {"Trigger": trigger_wire(await services.triggers.get(caller, NAMESPACE, body["Name"]))}


async def get_triggers(services: Services, caller: Caller, body: Body) -> Wire:
    page = await _page(services, caller, body)
    return paged("Triggers", [trigger_wire(trigger) for trigger in page.items], page.next_token)


async def list_triggers(services: Services, caller: Caller, body: Body) -> Wire:
    if not body.get("Tags"):
        page = await _page(services, caller, body)
        return paged("TriggerNames", [trigger.name for trigger in page.items], page.next_token)
    job_name, asked = await _dependent_job(services, caller, body), page_of(body, size=PAGE)
    found = await services.tags.names(caller, Taggable.TRIGGER, NAMESPACE, body["Tags"], asked, job_name=job_name)
    return paged("TriggerNames", list(found.items), found.next_token)


async def batch_get_triggers(services: Services, caller: Caller, body: Body) -> Wire:
    names: Sequence[str] = list(dict.fromkeys(body["TriggerNames"]))
    found = await services.triggers.get_many(caller, NAMESPACE, names)
    return {
        "Triggers": [trigger_wire(found[name]) for name in names if name in found],
        "TriggersNotFound": [name for name in names if name not in found],
    }


async def _page(services: Services, caller: Caller, body: Body) -> Page[Trigger]:
    job_name = await _dependent_job(services, caller, body)
    return await services.triggers.list(caller, [NAMESPACE], page_of(body, size=PAGE), job_name=job_name)


async def _dependent_job(services: Services, caller: Caller, body: Body) -> str | None:
    job_name: str | None = body.get("DependentJobName")
    if job_name is not None:
        await services.jobs.get(caller, NAMESPACE, job_name)
    return job_name


ACTIONS: Final[dict[str, Handler]] = {
    "CreateTrigger": create_trigger,
    "UpdateTrigger": update_trigger,
    "StartTrigger": start_trigger,
    "StopTrigger": stop_trigger,
    "DeleteTrigger": delete_trigger,
    "GetTrigger": get_trigger,
    "GetTriggers": get_triggers,
    "ListTriggers": list_triggers,
    "BatchGetTriggers": batch_get_triggers,
}
