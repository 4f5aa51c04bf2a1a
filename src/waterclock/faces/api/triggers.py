"""Triggers: `/triggers` and `/triggers/{name}`, set going and stopped, their ledger and their next fires."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.errors import InvalidInput
from waterclock.domain.trigger import TriggerType
from waterclock.faces.api import schedules
from waterclock.faces.api.call import NAMESPACES, OURS, PAGING, Call, Handler, json, json_page, namespace, page_of
from waterclock.faces.api.fields import flag, text
from waterclock.faces.api.jobs import asked_namespace, only_ours, operable_namespace
from waterclock.faces.api.trigger_definition import FIELDS, rendered, rendered_fire, spec_of


async def list_triggers(call: Call) -> Response:
    query = call.query({**PAGING, "namespace": namespace, "job": text()})
    namespaces = [query["namespace"]] if "namespace" in query else NAMESPACES
    found = await call.context.triggers.list(call.caller, namespaces, page_of(query), job_name=query.get("job"))
    return json_page(found, rendered)


async def create_trigger(call: Call) -> Response:
    given = await call.body({**FIELDS, "name": text(), "start": flag}, required=("name", "actions"))
    name, start = given["name"], given.get("start", False)
    spec = spec_of(given, seed=f"{OURS}/{name}")
    if start and spec.type is TriggerType.ON_DEMAND:
        raise InvalidInput("an ON_DEMAND trigger has nothing to start: fire it by POST …/start", field="start")
    trigger = await call.context.triggers.create(call.caller, OURS, name, spec, {}, {}, start=start)
    return json(rendered(trigger), 201)


async def get_trigger(call: Call) -> Response:
    return json(rendered(await call.context.triggers.get(call.caller, asked_namespace(call), call.name())))


async def replace_trigger(call: Call) -> Response:
    given = await call.body(FIELDS, required=("actions",))
    only_ours(call, "trigger")
    spec = spec_of(given, seed=f"{OURS}/{call.name()}")
    return json(rendered(await call.context.triggers.update(call.caller, OURS, call.name(), lambda _: (spec, {}))))


async def delete_trigger(call: Call) -> Response:
    return json(rendered(await call.context.triggers.delete(call.caller, operable_namespace(call), call.name())))


async def start_trigger(call: Call) -> Response:
    await call.body({})
    return json(rendered(await call.context.triggers.start(call.caller, operable_namespace(call), call.name())))


async def stop_trigger(call: Call) -> Response:
    await call.body({})
    return json(rendered(await call.context.triggers.stop(call.caller, operable_namespace(call), call.name())))


async def list_fires(call: Call) -> Response:
    query = call.query({**PAGING, "namespace": namespace})
    place = query.get("namespace", OURS)
    return json_page(await call.context.triggers.fires(call.caller, place, call.name(), page_of(query)), rendered_fire)


async def next_fires(call: Call) -> Response:
    query = call.query({**schedules.COUNT, "namespace": namespace})
    after, count = await schedules.start_and_count(call, query)
    place = query.get("namespace", OURS)
    return schedules.shown(
        await call.context.triggers.preview(call.caller, place, call.name(), after=after, count=count)
    )


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/triggers", list_triggers),
    ("POST", "/triggers", create_trigger),
    ("GET", "/triggers/{name}", get_trigger),
    ("PUT", "/triggers/{name}", replace_trigger),
    ("DELETE", "/triggers/{name}", delete_trigger),
    ("POST", "/triggers/{name}/start", start_trigger),
    ("POST", "/triggers/{name}/stop", stop_trigger),
    ("GET", "/triggers/{name}/fires", list_fires),
    ("GET", "/triggers/{name}/next", next_fires),
)
