"""AWS Signature Version 4, recomputed from the raw request: who passes holds the secret key of the access key named.

Pure: no clock, no store. `parse_authorization` reads the header, `check` decides; `verify` puts a lookup between them.
- What must be signed: `host`, `x-amz-date`, and `x-amz-target` where it is sent; each at most once in the request.
- The path is taken as it came over the wire (dot segments removed, encoded once more, as every service but S3 does),
  the query decoded, encoded, sorted; header values with runs of white space made one blank; the body is always hashed.
- An unknown access key and a wrong signature cost the same work and get the same answer.
- Session tokens are refused: none are issued here. Presigned queries count as unsigned. There is no replay cache: two
  genuine calls within a second have the same signature.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from waterclock.domain.errors import Unauthenticated

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SKEW: Final = timedelta(minutes=5)
Headers = Sequence[tuple[bytes, bytes]]
Fields = Mapping[
    bytes, Sequence[bytes]
]  # the same, found by lower-case name, each name's values in the order they came

_ONCE: Final = (b"authorization", b"host", b"x-amz-date", b"x-amz-target", b"x-amz-content-sha256")
_NO_SECRET: Final = secrets.token_urlsafe(30)  # an unknown key is checked against this, and refused even if it fits
_PARTS: Final = ("Credential", "SignedHeaders", "Signature")
_STAMP: Final = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
_MISMATCH: Final = (
    "The request signature we calculated does not match the signature you provided. "
    "Check your access key, your secret key and your signing method."
)


class SignatureRefused(Unauthenticated):
    """`code` is the name AWS has for it."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """The request as it came: nothing decoded, nothing normalised."""

    method: str
    raw_path: bytes
    raw_query: bytes
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What the Authorization header claims."""

    access_key: str
    date: str
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


async def verify(
    request: SignedRequest,
    secret_for: Callable[[str], Awaitable[str | None]],
    *,
    now: datetime,
    services: Collection[str],
) -> str:
    """The access key that signed the request, or `SignatureRefused`."""
    credential = parse_authorization(request.headers)
    return check(request, credential, await secret_for(credential.access_key), now=now, services=services)


def parse_authorization(headers: Headers) -> Credential:
    given = [value for name, value in headers if name.lower() == b"authorization"]
    if not given:
        raise SignatureRefused("MissingAuthenticationTokenException", "Missing Authentication Token")
    if len(given) > 1:
        raise _incomplete("The request has several Authorization headers.")
    algorithm, _, rest = given[0].decode("latin-1").strip().partition(" ")
    if algorithm != ALGORITHM:
        raise _incomplete(f"The Authorization header must use {ALGORITHM}.")
    parts = _authorization_parts(rest)
    signed = tuple(parts["SignedHeaders"].split(";"))
    if list(signed) != sorted({name.lower() for name in signed}):
        raise _incomplete("SignedHeaders must be lower-case, sorted, and name each header once.")
    access_key, date, region, service = _scope(parts["Credential"])
    return Credential(
        access_key=access_key,
        date=date,
        region=region,
        service=service,
        signed_headers=signed,
        signature=parts["Signature"],
    )


def check(
    request: SignedRequest, credential: Credential, secret: str | None, *, now: datetime, services: Collection[str]
) -> str:
    """The access key, if the signature is fresh, covers what it must, and fits `secret` (None for an unknown key)."""
    found = fields(request.headers)
    body_hash = hashlib.sha256(request.body).hexdigest()
    _check_headers(found, credential)
    _check_scope(found, credential, now, services)
    _check_body_hash(found, body_hash)
    canonical = canonical_request(request, found, credential.signed_headers, body_hash)
    expected = signature(canonical, _date(found), credential, _NO_SECRET if secret is None else secret)
    fits = hmac.compare_digest(expected.encode(), credential.signature.encode("latin-1", "replace"))
    if not fits or secret is None:
        raise SignatureRefused("InvalidSignatureException", _MISMATCH)
    return credential.access_key


def fields(headers: Headers) -> Fields:
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return found


def signature(canonical: bytes, date: str, credential: Credential, secret: str) -> str:
    digest = hashlib.sha256(canonical).hexdigest()
    to_sign = f"{ALGORITHM}\n{date}\n{credential.scope}\n{digest}"
    key = signing_key(secret, credential.date, credential.region, credential.service)
    return hmac.digest(key, to_sign.encode("latin-1"), "sha256").hex()


@lru_cache(maxsize=1024)
def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """The same for a whole day: most of the work of a signature."""
    key = b"AWS4" + secret.encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode("latin-1"), "sha256")
    return key


def canonical_request(request: SignedRequest, found: Fields, signed_headers: Sequence[str], body_hash: str) -> bytes:
    names = [name.encode("latin-1") for name in signed_headers]
    lines = [
        request.method.encode(),
        canonical_path(request.raw_path),
        canonical_query(request.raw_query),
        *(name + b":" + b",".join(map(_trimmed, found.get(name, ()))) for name in names),
        b"",
        b";".join(names),
        body_hash.encode(),
    ]
    return b"\n".join(lines)


def canonical_path(raw: bytes) -> bytes:
    if raw == b"/":
        return raw
    kept: list[bytes] = []
    for segment in raw.split(b"/"):
        if segment == b"..":
            del kept[-1:]
        elif segment not in (b"", b"."):
            kept.append(segment)
    slash = b"/" if kept and raw.endswith(b"/") else b""
    return quote(b"/" + b"/".join(kept) + slash, safe="/~").encode()


def canonical_query(raw: bytes) -> bytes:
    if not raw:
        return b""
    pairs = sorted(tuple(map(_reencoded, pair.partition(b"=")[::2])) for pair in raw.split(b"&"))
    return "&".join(f"{name}={value}" for name, value in pairs).encode()


def _reencoded(text: bytes) -> str:
    """Encoded the one way the signer has: botocore signs a blank as %20 and then sends it as a plus."""
    return quote(unquote_to_bytes(text.replace(b"+", b" ")), safe="-_.~")


def _check_headers(found: Fields, credential: Credential) -> None:
    for name in _ONCE:
        if len(found.get(name, ())) > 1:
            raise _invalid(f"The request has several '{name.decode()}' headers.")
    if b"x-amz-security-token" in found:
        raise SignatureRefused("UnrecognizedClientException", "Security tokens are not issued here: send none.")
    target = ("x-amz-target",) if b"x-amz-target" in found else ()
    for needed in ("host", "x-amz-date", *target):
        if needed not in credential.signed_headers:
            raise _invalid(f"'{needed}' must be a 'SignedHeader' in the AWS Authorization.")


def _check_scope(found: Fields, credential: Credential, now: datetime, services: Collection[str]) -> None:
    if credential.service not in services:
        raise _invalid(f"Credential should be scoped to correct service: {', '.join(sorted(services))}.")
    stamp = _date(found)
    signed_at = _moment(stamp)
    if stamp[:8] != credential.date:
        raise _invalid("Date in Credential scope does not match YYYYMMDD from x-amz-date.")
    if signed_at < now - SKEW:
        raise _invalid(f"Signature expired: {stamp} is now earlier than {_stamp(now - SKEW)} (5 min before now).")
    if signed_at > now + SKEW:
        raise _invalid(f"Signature not yet current: {stamp} is later than {_stamp(now + SKEW)} (5 min after now).")


def _check_body_hash(found: Fields, body_hash: str) -> None:
    for claimed in found.get(b"x-amz-content-sha256", ()):
        if claimed.strip() != body_hash.encode():
            raise _invalid("The value of x-amz-content-sha256 is not the SHA-256 of the body.")


def _authorization_parts(text: str) -> dict[str, str]:
    parts = dict(part.strip().partition("=")[::2] for part in text.split(","))
    for name in _PARTS:
        if not parts.get(name):
            raise _incomplete(f"Authorization header requires '{name}' parameter.")
    return parts


def _scope(credential: str) -> tuple[str, str, str, str]:
    match credential.split("/"):
        case [access_key, date, region, service, "aws4_request"] if access_key:
            return access_key, date, region, service
    raise _incomplete("Credential must be ACCESS_KEY/YYYYMMDD/REGION/SERVICE/aws4_request.")


def _trimmed(value: bytes) -> bytes:
    """White space as the canonical form has it. Clients sign UTF-8, but some HTTP libraries then send Latin-1."""
    words = b" ".join(value.split())
    try:
        words.decode("utf-8")
    except UnicodeDecodeError:
        return words.decode("latin-1").encode("utf-8")
    return words


def _date(found: Fields) -> str:
    return b"".join(found.get(b"x-amz-date", ())).strip().decode("latin-1")


def _moment(stamp: str) -> datetime:
    try:
        if _STAMP.fullmatch(stamp):
            return datetime.fromisoformat(stamp)
    except ValueError:
        pass
    raise _incomplete("Date must be in ISO-8601 'basic format': x-amz-date as YYYYMMDDTHHMMSSZ.")


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _incomplete(reason: str) -> SignatureRefused:
    return SignatureRefused("IncompleteSignatureException", reason)


def _invalid(reason: str) -> SignatureRefused:
    return SignatureRefused("InvalidSignatureException", reason)
