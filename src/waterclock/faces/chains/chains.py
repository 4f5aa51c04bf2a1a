"""Chains: defined, imported, switched and deleted: `/chains`, `/chains/{id}`, `/chains/import`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.chain import Switch
from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import one_of, text
from waterclock.faces.chains.definition import FIELDS, LONGEST_TAG, REQUIRED, imported_of, spec_of
from waterclock.faces.chains.fields import as_it_is
from waterclock.faces.chains.numbers import chain_id
from waterclock.faces.chains.rendering import chain
from waterclock.services.chains import Imported


async def list_chains(call: Call) -> Response:
    """By their numbers. What is usual of their parts is shown where one is asked for."""
    query = call.query({**PAGING, "tag": text(LONGEST_TAG), "switch": one_of(Switch)})
    found = await call.context.chains.list(
        call.caller, page_of(query), tag=query.get("tag"), switch=query.get("switch")
    )
    return json_page(found, chain)


async def create_chain(call: Call) -> Response:
    given = await call.body(FIELDS, required=REQUIRED)
    spec = spec_of(given, timezone=call.context.settings.chains_timezone)
    made = await call.context.chains.create(call.caller, spec)
    call.is_about(str(made.chain.id))
    return json(chain(made), 201)


async def import_chain(call: Call) -> Response:
    """As `create_chain`, but what cannot be read of its timestr or switch brings it in OFF, with a message."""
    given = await call.body({"chain": as_it_is, "source": text()}, required=("chain", "source"))
    spec, number, faults = imported_of(given["chain"], timezone=call.context.settings.chains_timezone)
    imported = Imported(spec=spec, source=given["source"], chain_id=number, faults=faults)
    made = await call.context.chains.take_in(call.caller, imported)
    call.is_about(str(made.chain.id))
    return json(chain(made), 201)


async def get_chain(call: Call) -> Response:
    call.query({})
    return json(chain(await call.context.chains.get(call.caller, chain_id(call))))


async def replace_chain(call: Call) -> Response:
    """All of it: what is left out is the default again. A run that lives keeps what it began with."""
    given = await call.body(FIELDS, required=REQUIRED)
    spec = spec_of(given, timezone=call.context.settings.chains_timezone)
    return json(chain(await call.context.chains.replace(call.caller, chain_id(call), spec)))


async def delete_chain(call: Call) -> Response:
    """As it was; its runs can still be shown."""
    call.query({})
    return json(chain(await call.context.chains.delete(call.caller, chain_id(call))))


async def switch_chain(call: Call) -> Response:
    given = await call.body({"switch": one_of(Switch)}, required=("switch",))
    return json(chain(await call.context.chains.switch(call.caller, chain_id(call), given["switch"])))


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "", list_chains),
    ("POST", "", create_chain),
    ("POST", "/import", import_chain),
    ("GET", "/{id}", get_chain),
    ("PUT", "/{id}", replace_chain),
    ("DELETE", "/{id}", delete_chain),
    ("PUT", "/{id}/switch", switch_chain),
)
