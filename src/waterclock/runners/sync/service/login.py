"""How a request says who asks: a token, a password, a key; or a token that is fetched, and again when it is old."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import quote

import httpx

from waterclock.runners.sync.service.config import ApiKey, Auth, Basic, Bearer, NoLogin, OauthClient
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.service.wire import Reply, Sent
from waterclock.runners.sync.source import SourceFailed

USUAL_SECONDS: Final = 300.0  # of a token whose answer does not say
EARLY_SECONDS: Final = 30.0  # before it ends, so that it does not end on its way
_LONGEST_REASON: Final = 200

Send = Callable[[Sent], Reply]  # again and again, until the answer is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)


class Login(Protocol):
    def credentials(self) -> Credentials: ...

    def renew(self) -> bool:
        """Whether another try with other credentials is worth it."""
        ...


class Fixed:
    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def credentials(self) -> Credentials:
        return self._credentials

    def renew(self) -> bool:
        return False


class FetchedToken:
    def __init__(self, auth: OauthClient, send: Send, times: Times) -> None:
        self._auth, self._send, self._times = auth, send, times
        self._token = ""
        self._until = 0.0

    def credentials(self) -> Credentials:
        if not self._token or self._times.monotonic() >= self._until:
            self._fetch()
        return Credentials(headers={"authorization": f"Bearer {self._token}"})

    def renew(self) -> bool:
        self._token = ""
        return True

    def _fetch(self) -> None:
        asked_at = self._times.monotonic()
        request = _token_request(self._auth)
        answer = _answer(request, self._send(request))
        token, seconds = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            raise SourceFailed(f"{request.shown}: the answer has no access_token")
        if str(answer.get("token_type", "bearer")).lower() != "bearer":
            raise SourceFailed(
                f"{request.shown}: the token is of the type {answer['token_type']!r}: only Bearer is known"
            )
        lasts = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else USUAL_SECONDS
        self._token, self._until = token, asked_at + max(lasts - EARLY_SECONDS, lasts / 2)


def login_of(auth: Auth, send: Send, times: Times) -> Login:
    match auth:
        case NoLogin():
            return Fixed(Credentials())
        case Bearer(token=token):
            return Fixed(Credentials(headers={"authorization": f"Bearer {token}"}))
        case Basic(user=user, password=password):
            return Fixed(Credentials(headers=_basic(user, password)))
        case ApiKey(name=name, value=value, in_query=True):
            return Fixed(Credentials(params={name: value}))
        case ApiKey(name=name, value=value):
            return Fixed(Credentials(headers={name: value}))
        case OauthClient():
            return FetchedToken(auth, send, times)


def _token_request(auth: OauthClient) -> Sent:
    form = {"grant_type": "client_credentials"} | ({"scope": auth.scope} if auth.scope else {})
    if auth.in_body:
        form |= {"client_id": auth.client_id, "client_secret": auth.client_secret}
        return Sent(method="POST", url=httpx.URL(auth.token_url), form=form)
    login = _basic(quote(auth.client_id, safe=""), quote(auth.client_secret, safe=""))  # RFC 6749, 2.3.1
    return Sent(method="POST", url=httpx.URL(auth.token_url), form=form, headers=login)


def _answer(request: Sent, reply: Reply) -> Mapping[str, Any]:
    try:
        answer = json.loads(reply.body)
    except (ValueError, RecursionError):
        answer = None
    found = answer if isinstance(answer, dict) else {}
    if reply.status != httpx.codes.OK:
        reason = str(found.get("error_description") or found.get("error") or "")[:_LONGEST_REASON]
        raise SourceFailed(
            f"{request.shown}: no token was given ({reply.status}{f': {reason}' if reason else ''}): "
            "check client_id, client_secret and scope"
        )
    return found


def _basic(user: str, password: str) -> Mapping[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}
