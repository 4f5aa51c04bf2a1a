"""Users with their keys and tokens: `/me`, `/users`, `/users/{name}/keys`, `/users/{name}/tokens`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.access import RIGHTS, Role, User
from waterclock.domain.moment import from_datetime, to_iso
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import moment, one_of, text
from waterclock.faces.iso import to_iso_or_none
from waterclock.stores.ops.access import Credential


async def show_me(call: Call) -> Response:
    caller = call.caller
    rights = sorted(right.name.lower() for right in RIGHTS[caller.role])
    about = {"name": caller.user, "role": caller.role, "org_id": caller.org_id, "account": caller.account}
    return json({**about, "rights": rights, "groups": sorted(caller.groups), "owner": caller.owner})


async def list_users(call: Call) -> Response:
    call.query({})
    return json({"items": [_user(user) for user in await call.context.access.list_users(call.caller)]})


async def create_user(call: Call) -> Response:
    given = await call.body({"name": text(), "role": one_of(Role)}, required=("name", "role"))
    return json(_user(await call.context.access.create_user(call.caller, given["name"], given["role"])), 201)


async def change_user(call: Call) -> Response:
    given = await call.body({"role": one_of(Role)}, required=("role",))
    await call.context.access.change_role(call.caller, call.name(), given["role"])
    return json({"name": call.name(), "role": given["role"]})


async def delete_user(call: Call) -> Response:
    await call.context.access.delete_user(call.caller, call.name())
    return json({"name": call.name()})


async def list_keys(call: Call) -> Response:
    found = await call.context.access.list_keys(call.caller, call.name())
    return json({"items": [_credential(key) for key in found]})


async def create_key(call: Call) -> Response:
    """The only time that the secret is shown."""
    given = await call.body({"group": text()})
    key = await call.context.access.create_key(call.caller, call.name(), group=given.get("group"))
    return json({"id": key.id, "secret": key.secret, "user": call.name(), "group": given.get("group")}, 201)


async def revoke_key(call: Call) -> Response:
    key_id = call.name("id")
    await call.context.access.revoke_key(call.caller, call.name(), key_id)
    return json({"id": key_id})


async def list_tokens(call: Call) -> Response:
    found = await call.context.access.list_tokens(call.caller, call.name())
    return json({"items": [{**_credential(token), "name": token.name} for token in found]})


async def create_token(call: Call) -> Response:
    """The only time that the token is shown."""
    given = await call.body({"name": text(), "expires_at": moment, "group": text()}, required=("name",))
    group = given.get("group")
    expires_at = from_datetime(given["expires_at"]) if "expires_at" in given else None
    token = await call.context.access.create_token(
        call.caller, call.name(), given["name"], expires_at=expires_at, group=group
    )
    shown = {"token": token, "name": given["name"], "user": call.name(), "group": group}
    return json({**shown, "expires_at": to_iso_or_none(expires_at)}, 201)


async def revoke_token(call: Call) -> Response:
    token_id = call.number("id", "token")
    await call.context.access.revoke_token(call.caller, call.name(), token_id)
    return json({"id": str(token_id)})


def _user(user: User) -> dict[str, object]:
    return {"id": user.id, "name": user.name, "role": user.role}


def _credential(credential: Credential) -> dict[str, object]:
    return {
        "id": credential.id,
        "group": credential.group,
        "created_at": to_iso(credential.created_at),
        "expires_at": to_iso_or_none(credential.expires_at),
        "revoked_at": to_iso_or_none(credential.revoked_at),
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/me", show_me),
    ("GET", "/users", list_users),
    ("POST", "/users", create_user),
    ("PUT", "/users/{name}", change_user),
    ("DELETE", "/users/{name}", delete_user),
    ("GET", "/users/{name}/keys", list_keys),
    ("POST", "/users/{name}/keys", create_key),
    ("DELETE", "/users/{name}/keys/{id}", revoke_key),
    ("GET", "/users/{name}/tokens", list_tokens),
    ("POST", "/users/{name}/tokens", create_token),
    ("DELETE", "/users/{name}/tokens/{id}", revoke_token),
)
