"""Messages to operators: `/messages` and `/messages/read`."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.errors import InvalidInput
from waterclock.domain.message import Message, MessageKind, SoughtMessages
from waterclock.domain.moment import to_iso
from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import Fields, flag, integer, one_of, several, text, written
from waterclock.faces.iso import to_iso_or_none

LAST: Final = 2**62
MOST_READ: Final = 5_000  # in one call

FILTERS: Final[Fields] = {
    "unread": written(flag),
    "kind": one_of(MessageKind),
    "tag": text(45),
    "chain": written(integer(1, LAST)),
}
READ: Final[Fields] = {"ids": several(integer(1, LAST), MOST_READ), "all": flag}


async def list_messages(call: Call) -> Response:
    query = call.query({**PAGING, **FILTERS})
    return json_page(await call.context.messages.list(call.caller, page_of(query), sought(query)), rendered)


async def read_messages(call: Call) -> Response:
    given = await call.body(READ)
    return json({"read": await call.context.messages.mark_read(call.caller, to_read(given))})


def sought(query: Mapping[str, Any]) -> SoughtMessages:
    return SoughtMessages(
        unread=query.get("unread", False),
        kind=query.get("kind", ""),
        tag=query.get("tag", ""),
        chain_id=query.get("chain", 0),
    )


def to_read(given: Mapping[str, Any]) -> tuple[int, ...] | None:
    """None: all of them."""
    if ("ids" in given) == bool(given.get("all")):
        raise InvalidInput('say which were read: {"ids": [...]}, or {"all": true}', field="ids")
    return given.get("ids")


def rendered(message: Message) -> dict[str, object]:
    """`run_id` is the run of the chain, `step_run` the one of a job that it is about."""
    return {
        "id": message.id,
        "kind": message.kind,
        "severity": message.severity,
        "chain_id": message.chain_id,
        "run_id": message.flow_run_id,
        "step_run": message.run_id,
        "tag": message.tag,
        "subtag": message.subtag,
        "subject": message.subject,
        "body": message.body,
        "created_at": to_iso(message.created_at),
        "read_at": to_iso_or_none(message.read_at),
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/messages", list_messages),
    ("POST", "/messages/read", read_messages),
)
