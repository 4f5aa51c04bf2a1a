"""Secrets: `/secrets` and `/secrets/{name}`. They are set and listed, never shown; `/secret-key` seals them anew."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import to_iso
from waterclock.domain.secret import Secret
from waterclock.faces.api.call import PAGING, Call, Handler, json, json_page, page_of
from waterclock.faces.api.fields import text
from waterclock.services.secrets import LONGEST_DESCRIPTION


async def list_secrets(call: Call) -> Response:
    return json_page(await call.context.secrets.list(call.caller, page_of(call.query(PAGING))), rendered)


async def put_secret(call: Call) -> Response:
    """201 for a new one, 200 for a new version."""
    fields = {"value": value, "description": text(LONGEST_DESCRIPTION, least=0)}
    given = await call.body(fields, required=("value",))
    made = await call.context.secrets.put(call.caller, call.name(), given["value"], given.get("description"))
    return json(rendered(made), 201 if made.created_at == made.updated_at else 200)


async def delete_secret(call: Call) -> Response:
    return json(rendered(await call.context.secrets.delete(call.caller, call.name())))


async def rotate_key(call: Call) -> Response:
    await call.body({})
    done = await call.context.secrets.rotate_key(call.caller)
    return json({"key": done.key_id, "resealed": done.resealed, "unreadable": done.unreadable})


def value(field: str, given: object) -> str:
    """As any text, but an error must not carry it along."""
    if not isinstance(given, str):
        raise InvalidInput("must be text", field=field)
    return given


def rendered(secret: Secret) -> dict[str, object]:
    return {
        "name": secret.name,
        "version": secret.version,
        "owner": secret.owner,
        "description": secret.description,
        "created_at": to_iso(secret.created_at),
        "updated_at": to_iso(secret.updated_at),
        "updated_by": secret.created_by,
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/secrets", list_secrets),
    ("PUT", "/secrets/{name}", put_secret),
    ("DELETE", "/secrets/{name}", delete_secret),
    ("POST", "/secret-key", rotate_key),
)
