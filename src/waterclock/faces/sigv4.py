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
# The same, found by lower-case name; of a name that came several times its values, with commas between them.
Fields = Mapping[bytes, bytes]

_ONCE: Final = (b"authorization", b"host", b"x-amz-date", b"x-amz-target", b"x-amz-content-sha256")
_NO_SECRET: Final = secrets.token_urlsafe(30)  # an unknown key is checked against this, and refused even if it fits
_PARTS: Final = ("Credential", "SignedHeaders", "Signature")
_NEEDED: Final = ("host", "x-amz-date")
_NEEDED_WITH_TARGET: Final = (*_NEEDED, "x-amz-target")
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


@dataclass(slots=True, kw_only=True)
class SignedRequest:
    """The request as it came: nothing decoded, nothing normalised. Not frozen: there is one for every call."""

    method: str
    raw_path: bytes
    raw_query: bytes
    headers: Headers
    body: bytes
    found: Fields | None = None  # what `fields` makes of the headers, where somebody knows it already


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What the Authorization header says before its signature: the same in many calls, so it is read once."""

    access_key: str
    date: str
    region: str
    service: str
    scope: str
    signed_headers: tuple[str, ...]
    names: tuple[bytes, ...]  # the same, as they are looked for
    listed: bytes  # and as they are signed


@dataclass(slots=True, kw_only=True)
class Credential:
    """What the Authorization header claims."""

    claim: Claim
    signature: str

    @property
    def access_key(self) -> str:
        return self.claim.access_key


async def verify(
    request: SignedRequest,
    secret_for: Callable[[str], Awaitable[str | None]],
    *,
    now: datetime,
    services: Collection[str],
) -> str:
    """The access key that signed the request, or `SignatureRefused`."""
    credential = parse_authorization(request.headers, request.found)
    return check(request, credential, await secret_for(credential.access_key), now=now, services=services)


def parse_authorization(headers: Headers, found: Fields | None = None) -> Credential:
    """`found`: the same headers, as `fields` has them."""
    if found is not None and len(found) == len(headers):
        given = [found[b"authorization"]] if b"authorization" in found else []
    else:
        given = [value for name, value in headers if name.lower() == b"authorization"]
    if not given:
        raise SignatureRefused("MissingAuthenticationTokenException", "Missing Authentication Token")
    if len(given) > 1:
        raise _incomplete("The request has several Authorization headers.")
    algorithm, _, rest = given[0].decode("latin-1").strip().partition(" ")
    if algorithm != ALGORITHM:
        raise _incomplete(f"The Authorization header must use {ALGORITHM}.")
    claimed, _, signed = rest.rpartition("Signature=")
    if not signed or "," in signed or not claimed.endswith((", ", ",")):  # in another order than all SDKs have
        parts = _authorization_parts(rest, _PARTS)
        claimed, signed = f"Credential={parts['Credential']},SignedHeaders={parts['SignedHeaders']}", parts["Signature"]
    return Credential(claim=_claim(claimed), signature=signed)


@lru_cache(maxsize=1024)
def _claim(text: str) -> Claim:
    parts = _authorization_parts(text, _PARTS[:2])
    signed = tuple(parts["SignedHeaders"].split(";"))
    if list(signed) != sorted({name.lower() for name in signed}):
        raise _incomplete("SignedHeaders must be lower-case, sorted, and name each header once.")
    access_key, date, region, service = _scope(parts["Credential"])
    names = tuple(name.encode("latin-1") for name in signed)
    return Claim(
        access_key=access_key,
        date=date,
        region=region,
        service=service,
        scope=f"{date}/{region}/{service}/aws4_request",
        signed_headers=signed,
        names=names,
        listed=b";".join(names),
    )


def check(
    request: SignedRequest, credential: Credential, secret: str | None, *, now: datetime, services: Collection[str]
) -> str:
    """The access key, if the signature is fresh, covers what it must, and fits `secret` (None for an unknown key)."""
    found = fields(request.headers) if request.found is None else request.found
    claim = credential.claim
    body_hash = hashlib.sha256(request.body).hexdigest()
    if len(found) != len(request.headers):
        _check_once(request.headers)
    _check_headers(found, claim)
    date = found.get(b"x-amz-date", b"").strip().decode("latin-1")
    _check_scope(date, claim, now, services)
    _check_body_hash(found, body_hash)
    canonical = canonical_request(request, found, claim, body_hash)
    expected = signature(canonical, date, claim, _NO_SECRET if secret is None else secret)
    fits = hmac.compare_digest(expected.encode(), credential.signature.encode("latin-1", "replace"))
    if not fits or secret is None:
        raise SignatureRefused("InvalidSignatureException", _MISMATCH)
    return credential.access_key


def fields(headers: Headers) -> Fields:
    found = {name.lower(): value for name, value in headers}
    return found if len(found) == len(headers) else _joined(headers)


def _joined(headers: Headers) -> Fields:
    values: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(_trimmed(value))
    return {name: b",".join(given) for name, given in values.items()}


def signature(canonical: bytes, date: str, claim: Claim, secret: str) -> str:
    digest = hashlib.sha256(canonical).hexdigest()
    to_sign = f"{ALGORITHM}\n{date}\n{claim.scope}\n{digest}"
    key = signing_key(secret, claim.date, claim.region, claim.service)
    return hmac.digest(key, to_sign.encode("latin-1"), "sha256").hex()


@lru_cache(maxsize=1024)
def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """The same for a whole day: most of the work of a signature."""
    key = b"AWS4" + secret.encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode("latin-1"), "sha256")
    return key


def canonical_request(request: SignedRequest, found: Fields, claim: Claim, body_hash: str) -> bytes:
    lines = [
        request.method.encode(),
        canonical_path(request.raw_path),
        canonical_query(request.raw_query),
        *[name + b":" + _trimmed(found.get(name, b"")) for name in claim.names],
        b"",
        claim.listed,
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


def _check_once(headers: Headers) -> None:
    given = [name.lower() for name, _ in headers]
    for name in _ONCE:
        if given.count(name) > 1:
            raise _invalid(f"The request has several '{name.decode()}' headers.")


def _check_headers(found: Fields, claim: Claim) -> None:
    if b"x-amz-security-token" in found:
        raise SignatureRefused("UnrecognizedClientException", "Security tokens are not issued here: send none.")
    for needed in _NEEDED_WITH_TARGET if b"x-amz-target" in found else _NEEDED:
        if needed not in claim.signed_headers:
            raise _invalid(f"'{needed}' must be a 'SignedHeader' in the AWS Authorization.")


def _check_scope(stamp: str, claim: Claim, now: datetime, services: Collection[str]) -> None:
    if claim.service not in services:
        raise _invalid(f"Credential should be scoped to correct service: {', '.join(sorted(services))}.")
    age = now - _moment(stamp)
    if stamp[:8] != claim.date:
        raise _invalid("Date in Credential scope does not match YYYYMMDD from x-amz-date.")
    if age > SKEW:
        raise _invalid(f"Signature expired: {stamp} is now earlier than {_stamp(now - SKEW)} (5 min before now).")
    if age < -SKEW:
        raise _invalid(f"Signature not yet current: {stamp} is later than {_stamp(now + SKEW)} (5 min after now).")


def _check_body_hash(found: Fields, body_hash: str) -> None:
    claimed = found.get(b"x-amz-content-sha256")
    if claimed is not None and claimed.strip() != body_hash.encode():
        raise _invalid("The value of x-amz-content-sha256 is not the SHA-256 of the body.")


def _authorization_parts(text: str, needed: Sequence[str]) -> dict[str, str]:
    parts = dict(part.strip().partition("=")[::2] for part in text.split(","))
    for name in needed:
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
    if words.isascii():
        return words
    try:
        words.decode("utf-8")
    except UnicodeDecodeError:
        return words.decode("latin-1").encode("utf-8")
    return words


@lru_cache(maxsize=1024)
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
