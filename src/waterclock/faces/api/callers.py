"""Who calls: the user of a bearer token; without authentication (loopback only) the first admin."""

from urllib.parse import urlsplit
from uuid import uuid4

from starlette.requests import Request

from waterclock.domain.access import Caller
from waterclock.domain.errors import Forbidden, Unauthenticated
from waterclock.faces.api.context import Context
from waterclock.faces.http import auth
from waterclock.faces.http.marks import request_id_of
from waterclock.settings import LOOPBACK


async def caller_of(request: Request, context: Context) -> Caller:
    address = request.client.host if request.client else ""
    request_id = request_id_of(request.scope) or str(uuid4())
    if context.settings.auth == "none":
        _not_from_a_foreign_page(request)
        return auth.first_admin(address=address, request_id=request_id)
    token = auth.bearer_token(request.scope["headers"])
    if token is None:
        raise Unauthenticated("send a token: Authorization: Bearer wct_…")
    identity = await context.access.identity_of(token)
    if identity is None:
        raise Unauthenticated("the token is unknown, revoked or expired")
    return auth.caller_of(identity, address=address, request_id=request_id)


def _not_from_a_foreign_page(request: Request) -> None:
    """Without authentication any web page open on this host could call us: but a browser says where it comes from."""
    host = urlsplit(f"//{request.headers.get('host', '')}")
    origin = request.headers.get("origin")
    if (host.hostname or "") not in LOOPBACK or (origin is not None and urlsplit(origin).netloc != host.netloc):
        raise Forbidden("without authentication this server answers to programs on its own host only")
