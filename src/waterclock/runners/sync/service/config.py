"""A service as its source's config describes it: where it is, how to log in, how fast and how often to ask."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from waterclock.domain.masking import LEAST_CHARACTERS, Masks
from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.source import SourceFailed

RETRIES: Final = 5
TIMEOUT_SECONDS: Final = 60.0

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection", "authorization"})
_NOT_SECRET: Final = frozenset({"accept", "accept-language", "content-type", "user-agent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NoLogin: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Basic:
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    name: str
    value: str = field(repr=False)
    in_query: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OauthClient:
    """Client credentials: a token is fetched, and fetched again when it is old or refused."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str
    in_body: bool  # the secret, for servers that do not take it as a login


Auth = NoLogin | Bearer | Basic | ApiKey | OauthClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    base_url: str  # without a slash at its end
    headers: Mapping[str, str] = field(repr=False)
    auth: Auth
    per_second: float | None
    retries: int
    timeout_seconds: float
    endpoints: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may show, even where the service repeats it."""
        return tuple(each for each in _secrets(self) if len(each) >= LEAST_CHARACTERS)

    def masked(self, text: str) -> str:
        return Masks.of(self.secrets).text(text)


def service_of(config: Mapping[str, Any]) -> Service:
    given = Given(config)
    timeout = given.number("timeout_seconds", TIMEOUT_SECONDS)
    return Service(
        base_url=_address(given, "base_url"),
        headers=_headers(given),
        auth=_auth(given.inner("auth")),
        per_second=given.number("rate_limit_per_second", None),
        retries=given.whole("retries", RETRIES, most=100),
        timeout_seconds=timeout or TIMEOUT_SECONDS,
        endpoints=given.texts("endpoints"),
    )


def _address(given: Given, name: str) -> str:
    text, named = given.text(name).strip(), given.name(name)
    parts = _split(text, named)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SourceFailed(f"{named} is no address such as https://api.example.com/v1")
    if parts.username is not None or parts.password is not None:
        raise SourceFailed(f"{named} holds a user or a password: auth is for that")
    if parts.query or parts.fragment:
        raise SourceFailed(f"{named} may not hold a query or a fragment: the job's params are for that")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _split(text: str, named: str) -> SplitResult:
    if not text.isascii() or not text.isprintable() or set(text) & set(' \\"<>^`{|}'):
        raise SourceFailed(f"{named} holds a character that an address cannot hold: write it as %xx")
    try:
        parts = urlsplit(text)
        _ = parts.port  # which is read only now, and may be none
    except ValueError:
        raise SourceFailed(f"{named} is no address such as https://api.example.com/v1") from None
    return parts


def _headers(given: Given) -> Mapping[str, str]:
    headers = given.mapping("headers")
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise SourceFailed(f"headers: {name!r} is no name of a header")
        if name.lower() in _OURS:
            raise SourceFailed(f"headers: {name} is not for you to set (auth is for logins)")
        _check_header(value, f"headers.{name}")
    return headers


def _check_header(value: object, named: str) -> None:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        raise SourceFailed(f"{named} must be a text of printable ASCII characters, in one line")


def _auth(given: Given) -> Auth:
    match given.choice("type", ("none", "bearer", "basic", "api_key", "oauth2_client"), "none"):
        case "bearer":
            _check_header(given.raw("token"), given.name("token"))
            return Bearer(token=given.text("token"))
        case "basic":
            return Basic(user=given.text("user"), password=given.text("password", ""))
        case "api_key":
            return _api_key(given)
        case "oauth2_client":
            return OauthClient(
                token_url=_address(given, "token_url"),
                client_id=given.text("client_id"),
                client_secret=given.text("client_secret"),
                scope=given.text("scope", ""),
                in_body=given.choice("secret_in", ("header", "body"), "header") == "body",
            )
        case _:
            return NoLogin()


def _api_key(given: Given) -> ApiKey:
    key = ApiKey(
        name=given.text("name"),
        value=given.text("value"),
        in_query=given.choice("in", ("header", "query"), "header") == "query",
    )
    if not key.in_query:
        _check_header(key.value, given.name("value"))
        if not _HEADER.fullmatch(key.name):
            raise SourceFailed(f"{given.name('name')}: {key.name!r} is no name of a header")
    return key


def _secrets(service: Service) -> Iterator[str]:
    match service.auth:
        case Bearer(token=token):
            yield token
        case Basic(password=password):
            yield password
        case ApiKey(value=value):
            yield value
        case OauthClient(client_secret=secret):
            yield secret
    yield from (value for name, value in service.headers.items() if name.lower() not in _NOT_SECRET)
