"""Channels: `/channels`, `/channels/{name}` and `/channels/{name}/test`. Their addresses are taken, never shown."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.channel import Channel
from waterclock.domain.message import ChannelRules, MessageKind, Severity
from waterclock.domain.moment import to_iso
from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import Fields, flag, one_of, several, text
from waterclock.faces.api.secrets import value as secret_text
from waterclock.faces.iso import to_iso_or_none
from waterclock.services.channels import LONGEST_TAG

MOST_RULES: Final = 100
RULES: Final = ("tags", "kinds", "severities")

DEFINITION: Final[Fields] = {
    "url": secret_text,
    "tags": several(text(LONGEST_TAG), MOST_RULES),
    "kinds": several(one_of(MessageKind), MOST_RULES),
    "severities": several(one_of(Severity), MOST_RULES),
    "on": flag,
}


async def list_channels(call: Call) -> Response:
    return json_page(await call.context.channels.list(call.caller, page_of(call.query(PAGING))), rendered)


async def create_channel(call: Call) -> Response:
    given = await call.body({"name": text(), **DEFINITION}, required=("name", "url"))
    rules = ChannelRules(**_rules(given))
    made = await call.context.channels.create(call.caller, given["name"], given["url"], rules, on=given.get("on", True))
    return json(rendered(made), 201)


async def show_channel(call: Call) -> Response:
    call.query({})
    return json(rendered(await call.context.channels.get(call.caller, call.name())))


async def change_channel(call: Call) -> Response:
    """What is not given stays: an address cannot be read back to send it again."""
    given = await call.body(DEFINITION)
    changed = await call.context.channels.change(
        call.caller, call.name(), address=given.get("url"), rules=_rules(given), on=given.get("on")
    )
    return json(rendered(changed))


async def delete_channel(call: Call) -> Response:
    return json(rendered(await call.context.channels.delete(call.caller, call.name())))


async def test_channel(call: Call) -> Response:
    """200 whatever came of it: that the channel fails is the answer."""
    await call.body({})
    error = await call.context.channels.test(call.caller, call.name())
    return json({"name": call.name(), "sent": error is None, "error": error})


def rendered(channel: Channel) -> dict[str, object]:
    return {
        "name": channel.name,
        "url": channel.shown,
        "tags": list(channel.rules.tags),
        "kinds": list(channel.rules.kinds),
        "severities": list(channel.rules.severities),
        "on": channel.on,
        "owner": channel.owner,
        "last_sent_at": to_iso_or_none(channel.last_sent_at),
        "last_failed_at": to_iso_or_none(channel.last_failed_at),
        "last_error": channel.last_error,
        "created_at": to_iso(channel.created_at),
        "updated_at": to_iso(channel.updated_at),
    }


def _rules(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(map(str, given[name])) for name in RULES if name in given}


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/channels", list_channels),
    ("POST", "/channels", create_channel),
    ("GET", "/channels/{name}", show_channel),
    ("PUT", "/channels/{name}", change_channel),
    ("DELETE", "/channels/{name}", delete_channel),
    ("POST", "/channels/{name}/test", test_channel),
)
