"""Tables that queries name: `/lake/table/create`, `/lake/table/list`, `/lake/table/{name}`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.lake import LakeTable, TableFormat
from waterclock.domain.lake_checks import LONGEST_PATH
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import Fields, one_of, text
from waterclock.faces.lake import rendering
from waterclock.faces.lake.fields import body
from waterclock.faces.lake.listing import PAGE, USUAL_SIZE, listed

TABLE: Final[Fields] = {"name": text(), "format": one_of(TableFormat), "path": text(LONGEST_PATH)}


async def create_table(call: Call) -> Response:
    """As it is kept: its name in small letters."""
    given = await body(call, TABLE, required=tuple(TABLE))
    call.is_about(given["name"])
    made = await call.context.lake.create_table(call.caller, LakeTable(**given))
    return json({"table": rendering.table(made)})


async def list_tables(call: Call) -> Response:
    """By their names."""
    given = await body(call, PAGE)
    found = await call.context.lake.list_tables(
        call.caller,
        keyword=given.get("keyword") or None,
        offset=given.get("from", 0),
        limit=given.get("size", USUAL_SIZE),
    )
    return listed(found, rendering.table)


async def delete_table(call: Call) -> Response:
    """The name alone: what lies at its path stays."""
    await call.context.lake.delete_table(call.caller, call.name())
    return json({"success": True})


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("POST", "/table/create", create_table),
    ("POST", "/table/list", list_tables),
    ("DELETE", "/table/{name}", delete_table),
)
