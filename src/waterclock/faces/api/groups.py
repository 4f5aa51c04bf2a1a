"""Groups and their members: `/groups`, `/groups/{name}/members/{user}`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.access import Group
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import text


async def list_groups(call: Call) -> Response:
    call.query({})
    return json({"items": [_group(group) for group in await call.context.groups.list(call.caller)]})


async def create_group(call: Call) -> Response:
    given = await call.body({"name": text()}, required=("name",))
    return json(_group(await call.context.groups.create(call.caller, given["name"])), 201)


async def delete_group(call: Call) -> Response:
    await call.context.groups.delete(call.caller, call.name())
    return json({"name": call.name()})


async def add_member(call: Call) -> Response:
    await call.body({})
    await call.context.groups.add(call.caller, call.name(), call.name("user"))
    return json({"name": call.name(), "user": call.name("user")})


async def remove_member(call: Call) -> Response:
    await call.context.groups.remove(call.caller, call.name(), call.name("user"))
    return json({"name": call.name(), "user": call.name("user")})


def _group(group: Group) -> dict[str, object]:
    return {"id": group.id, "name": group.name, "members": list(group.members)}


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/groups", list_groups),
    ("POST", "/groups", create_group),
    ("DELETE", "/groups/{name}", delete_group),
    ("PUT", "/groups/{name}/members/{user}", add_member),
    ("DELETE", "/groups/{name}/members/{user}", remove_member),
)
