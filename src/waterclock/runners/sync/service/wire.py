"""One exchange with a service over HTTP: only with addresses that may be spoken to, never more than fits in memory."""

import logging
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from waterclock.reachable import public_only
from waterclock.runners.sync.service.retry import Passing
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.source import SourceFailed

CONNECT_SECONDS: Final = 10.0
MOST_BYTES: Final = 32 * 1024 * 1024  # of a page, unpacked
WHOLE: Final = 10  # times the timeout: a page that comes drop by drop ends here
ALLOWED_BY: Final = "an admin may allow it with the setting lake.private"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request; `shown` is what messages call it, without its query, which may hold anything."""

    method: str
    url: httpx.URL
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Any = None
    form: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        return f"{self.method} {shown_url(self.url)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    next_url: str | None  # of its Link header
    body: bytes = field(repr=False)


class Wire:
    def __init__(self, *, allows_private: bool, timeout_seconds: float, tls: bool, times: Times) -> None:
        self._seconds, self._times = timeout_seconds, times
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it would log addresses, with the keys in them
        # To load certificates takes longer than a page of a service that needs none.
        verify = True if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._client = httpx.Client(
            transport=_Guarded(httpx.HTTPTransport(verify=verify), allows_private=allows_private),
            timeout=httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds)),
            headers={"accept": "application/json", "user-agent": "waterclock"},
            trust_env=False,  # a proxy of the environment would reach what we may not
        )

    def send(self, sent: Sent) -> Reply:
        """Whatever its status is; `Passing` where nothing whole came back."""
        with _in_words(sent, self._seconds):
            request = self._client.build_request(
                sent.method, sent.url, headers=dict(sent.headers), json=sent.json, data=sent.form
            )
            reply = self._client.send(request, stream=True)
            try:
                body = self._body(sent, reply)
            finally:
                reply.close()
        link = reply.links.get("next", {}).get("url")
        return Reply(status=reply.status_code, headers=reply.headers, next_url=link, body=body)

    def close(self) -> None:
        self._client.close()

    def _body(self, sent: Sent, reply: httpx.Response) -> bytes:
        body, until = bytearray(), self._times.monotonic() + WHOLE * self._seconds
        for part in reply.iter_bytes():
            body += part
            if len(body) > MOST_BYTES:
                raise SourceFailed(
                    f"{sent.shown}: the page has more than {MOST_BYTES // 2**20} MiB: ask for fewer records at once"
                )
            if self._times.monotonic() > until:
                raise Passing(f"{sent.shown}: the page was not whole after {WHOLE * self._seconds:g} s")
        return bytes(body)


class _Guarded(httpx.BaseTransport):
    """Whatever a name stands for when the connection is made: that address is looked at."""

    def __init__(self, inner: httpx.BaseTransport, *, allows_private: bool) -> None:
        self._inner, self._allows_private = inner, allows_private

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with public_only(unless=self._allows_private) as refused:
            try:
                return self._inner.handle_request(request)
            except httpx.ConnectError:
                if not refused:
                    raise
        host = request.url.host
        where = refused[0] if host == refused[0] else f"{host} is at {refused[0]}, which"
        raise SourceFailed(f"{where} is not a public address; {ALLOWED_BY}")

    def close(self) -> None:
        self._inner.close()


@contextmanager
def _in_words(sent: Sent, seconds: float) -> Iterator[None]:
    try:
        yield
    except httpx.InvalidURL as problem:
        raise SourceFailed(f"{sent.shown}: the address cannot be asked for: {problem}") from None
    except (httpx.LocalProtocolError, httpx.UnsupportedProtocol) as problem:
        raise SourceFailed(f"{sent.shown}: the request cannot be sent: {problem}") from None
    except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
        raise Passing(f"{sent.shown}: the service cannot be reached: {str(problem) or 'no answer'}") from None
    except httpx.TimeoutException:
        raise Passing(f"{sent.shown}: the service has been silent for {seconds:g} s") from None
    except httpx.HTTPError as problem:
        raise Passing(f"{sent.shown}: the connection was lost: {str(problem) or type(problem).__name__}") from None


def shown_url(url: httpx.URL) -> str:
    return str(url.copy_with(query=None, fragment=None, username=None, password=None))
