"""Messages: what operators are told, until they say that they have read it: `/chains/messages`."""

from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.errors import InvalidInput
from waterclock.domain.message import Message, MessageKind, SoughtMessages
from waterclock.domain.moment import to_iso
from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import Fields, flag, integer, one_of, several, text, written
from waterclock.faces.chains.definition import LONGEST_TAG
from waterclock.faces.chains.numbers import MOST_NUMBER
from waterclock.faces.iso import to_iso_or_none

MOST_READ: Final = 5_000  # in one call
NUMBER: Final = integer(1, MOST_NUMBER)
FILTERS: Final[Fields] = {
    "unread": written(flag),
    "kind": one_of(MessageKind),
    "tag": text(LONGEST_TAG),
    "chain": written(NUMBER),
}
READ: Final[Fields] = {"ids": several(NUMBER, MOST_READ), "all": flag}


async def list_messages(call: Call) -> Response:
    """Newest first, also those that are about no chain."""
    query = call.query({**PAGING, **FILTERS})
    return json_page(await call.context.messages.list(call.caller, page_of(query), _sought(query)), _rendered)


async def mark_read(call: Call) -> Response:
    """How many of them nobody had read before."""
    given = await call.body(READ)
    if ("ids" in given) == given.get("all", False):
        raise InvalidInput('name them, {"ids": […]}, or say {"all": true}', field="ids")
    return json({"read": await call.context.messages.mark_read(call.caller, given.get("ids"))})


def _sought(query: dict[str, Any]) -> SoughtMessages:
    return SoughtMessages(
        unread=query.get("unread", False),
        kind=query.get("kind", ""),
        tag=query.get("tag", ""),
        chain_id=query.get("chain", 0),
    )


def _rendered(message: Message) -> dict[str, object]:
    """`run_id` is the chain's run, `step_run` the number of the one run in it that the message is about."""
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
    ("POST", "/messages/read", mark_read),
)
