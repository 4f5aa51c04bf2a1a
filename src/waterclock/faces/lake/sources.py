"""Sources of syncs: kept, shown without their secrets, tried: `/lake/source/create`, `/lake/source/{source_id}`, …"""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_source_rules import SourceDraft
from waterclock.domain.lake_source_secrets import shown
from waterclock.domain.lake_sync import LakeSource, SourceKind
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import Fields, one_of, text
from waterclock.faces.lake import syncs
from waterclock.faces.lake.fields import body, whole
from waterclock.faces.lake.listing import PAGE, USUAL_SIZE, listed
from waterclock.faces.lake.rendering import milliseconds
from waterclock.services.lake_sources import MOST_ROWS, USUAL_ROWS


def config(field: str, value: object) -> Mapping[str, object]:
    """What its fields may be is the domain's to say, by the kind."""
    if not isinstance(value, dict):
        raise InvalidInput("must be a JSON object", field=field)
    return value


SOURCE: Final[Fields] = {"name": text(), "kind": one_of(SourceKind), "config": config}
# What of a source is to be shown, in the words of a sync job.
PREVIEWED: Final = (
    *("database_name", "table_name", "query", "endpoint", "method", "params", "body", "records", "paging"),
    *("path", "format", "options", "spreadsheet_id", "sheet", "on_bad_line"),
)
WHAT: Final[Fields] = {
    name: reader for fields in syncs.FIELDS.values() for name, reader in fields.items() if name in PREVIEWED
}
LIMIT: Final = "limit"


async def create_source(call: Call) -> Response:
    made = await call.context.lake_sources.create(call.caller, await _draft(call))
    call.is_about(str(made.id))
    return json({"source": source(made)})


async def get_source(call: Call) -> Response:
    return json({"source": source(await call.context.lake_sources.get(call.caller, source_id(call)))})


async def update_source(call: Call) -> Response:
    """All of it; a secret that is sent as it was shown stays as it is."""
    await call.context.lake_sources.update(call.caller, source_id(call), await _draft(call))
    return json({"success": True})


async def delete_source(call: Call) -> Response:
    await call.context.lake_sources.delete(call.caller, source_id(call))
    return json({"success": True})


async def list_sources(call: Call) -> Response:
    """By their names."""
    given = await body(call, PAGE)
    found = await call.context.lake_sources.list(
        call.caller,
        keyword=given.get("keyword") or None,
        offset=given.get("from", 0),
        limit=given.get("size", USUAL_SIZE),
    )
    return listed(found, source)


async def test_source(call: Call) -> Response:
    answer = await call.context.lake_sources.test(call.caller, source_id(call))
    return json({"success": True, "message": str(answer.get("message", ""))})


async def preview_source(call: Call) -> Response:
    given = await body(call, {**WHAT, LIMIT: whole(1, MOST_ROWS)})
    rows = given.pop(LIMIT, USUAL_ROWS)
    what = {name: value for name, value in given.items() if value != ""}
    answer = await call.context.lake_sources.preview(call.caller, source_id(call), what, rows=rows)
    return json({"columns": answer.get("columns", []), "rows": answer.get("rows", []), **_cut(answer)})


async def list_source_tables(call: Call) -> Response:
    answer = await call.context.lake_sources.tables(call.caller, source_id(call))
    return json({"tables": answer.get("tables", []), **_cut(answer)})


def source(found: LakeSource) -> Mapping[str, object]:
    """It can be sent back as it is."""
    return {
        "source_id": found.id,
        "org_id": found.org_id,
        "name": found.name,
        "kind": found.kind,
        "config": shown(found),
        "owner": found.owner,
        "creator_id": found.creator,
        "created_time": milliseconds(found.created_at),
        "updated_time": milliseconds(found.updated_at),
    }


def _cut(answer: Mapping[str, object]) -> Mapping[str, object]:
    """Where there was more than an answer can hold: that it was cut, and how much there is."""
    return {name: answer[name] for name in ("cut", "total") if name in answer}


def source_id(call: Call) -> int:
    return call.number("source_id", "lake source")


async def _draft(call: Call) -> SourceDraft:
    return SourceDraft(**await body(call, SOURCE, required=tuple(SOURCE)))


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("POST", "/source/create", create_source),
    ("POST", "/source/list", list_sources),
    ("GET", "/source/{source_id}", get_source),
    ("PUT", "/source/{source_id}", update_source),
    ("DELETE", "/source/{source_id}", delete_source),
    ("POST", "/source/{source_id}/test", test_source),
    ("POST", "/source/{source_id}/preview", preview_source),
    ("GET", "/source/{source_id}/tables", list_source_tables),
)
