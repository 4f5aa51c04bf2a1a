"""Who calls: by signature, by bearer token, or anybody at all where the operator said so."""

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from waterclock import clock
from waterclock.domain.access import Caller, Identity, Role
from waterclock.domain.errors import Forbidden
from waterclock.domain.moment import to_datetime
from waterclock.faces.sigv4 import SignedRequest, check, fields, parse_authorization
from waterclock.services.access import ADMIN, FIRST_ACCOUNT, FIRST_ORGANISATION, Access
from waterclock.settings import LOOPBACK

INVOCATION_ID: Final = b"amz-sdk-invocation-id"

_KEY_ID: Final = re.compile(r"\w{1,128}", re.ASCII)
_BEARER: Final = re.compile(rb"bearer +(\S{1,512}) *", re.IGNORECASE)


class Signatures:
    """AWS Signature Version 4 with the keys of the store."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def __call__(
        self, request: SignedRequest, *, services: Collection[str], address: str, request_id: str
    ) -> Caller:
        credential = parse_authorization(request.headers, request.found)
        # What cannot be a key id is an unknown key: it costs the same work, but no query.
        known = _KEY_ID.fullmatch(credential.access_key)
        found = await self._access.secret_of(credential.access_key) if known else None
        now = to_datetime(clock.wall_us())
        secret = found.secret if found else None
        check(request, credential, secret, now=now, services=services)
        assert found is not None  # `check` refuses what is unknown
        call_id = call_id_of(request, credential.access_key)
        return caller_of(found.identity, address=address, request_id=request_id, call_id=call_id)


class Anybody:
    """`--auth none`: whoever reaches us is the admin of the first organisation; a signature is not even looked at.

    But not a web page that happens to be open on this host: a browser says where the page came from.
    """

    async def __call__(
        self, request: SignedRequest, *, services: Collection[str], address: str, request_id: str
    ) -> Caller:
        found = fields(request.headers) if request.found is None else request.found
        host = found.get(b"host", b"").decode("latin-1")
        if (urlsplit(f"//{host}").hostname or "") not in LOOPBACK or b"origin" in found:
            raise Forbidden("without authentication this server answers to programs on its own host only")
        return first_admin(address=address, request_id=request_id, call_id=call_id_of(request, ""))


def call_id_of(request: SignedRequest, access_key: str) -> str | None:
    """What the AWS SDKs call a call, and each of its retries; nobody speaks for another's key."""
    found = fields(request.headers) if request.found is None else request.found
    value = found.get(INVOCATION_ID)
    return f"{access_key}/{value.decode('latin-1')}" if value else None


def caller_of(identity: Identity, *, address: str, request_id: str, call_id: str | None = None) -> Caller:
    user = identity.user
    return Caller(
        user=user.name,
        org_id=user.org_id,
        account=user.account,
        role=user.role,
        address=address,
        request_id=request_id,
        call_id=call_id,
        groups=identity.groups,
        group=identity.group,
    )


def first_admin(*, address: str, request_id: str, call_id: str | None = None) -> Caller:
    return Caller(
        user=ADMIN,
        org_id=FIRST_ORGANISATION,
        account=FIRST_ACCOUNT,
        role=Role.ADMIN,
        address=address,
        request_id=request_id,
        call_id=call_id,
    )


def bearer_token(headers: Collection[tuple[bytes, bytes]]) -> str | None:
    """The token of the one Authorization header, if it is a bearer token."""
    given = [value for name, value in headers if name == b"authorization"]
    match = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
    return match[1].decode("latin-1") if match else None
