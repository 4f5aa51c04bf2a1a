"""A service that is asked patiently: at its pace, logged in, again where a failure may pass; its pages as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import httpx

from waterclock.domain.masking import LEAST_CHARACTERS, Masks
from waterclock.runners.sync.service.config import OauthClient, Service
from waterclock.runners.sync.service.login import login_of
from waterclock.runners.sync.service.retry import MOST_ASKED_SECONDS, Passing, asked_seconds, back_off, may_pass
from waterclock.runners.sync.service.times import Pace, Times
from waterclock.runners.sync.service.wire import Reply, Sent, Wire, shown_url
from waterclock.runners.sync.source import SourceFailed

MOST_REDIRECTS: Final = 5
_LONGEST_BODY: Final = 300
_MOST_LOOKED_AT: Final = 16_000
_KEEP_THE_METHOD: Final = frozenset({307, 308})
_REDIRECTS: Final = frozenset({301, 302, 303}) | _KEEP_THE_METHOD


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    page: Any = field(repr=False)
    next_url: str | None  # of its Link header
    url: httpx.URL  # that it came from
    bytes: int


class Client:
    def __init__(self, service: Service, *, allows_private: bool, times: Times | None = None) -> None:
        self.service = service
        self._times = times or Times()
        self._base = httpx.URL(service.base_url)
        self._wire = Wire(
            allows_private=allows_private,
            timeout_seconds=service.timeout_seconds,
            tls=any(url.startswith("https:") for url in _addresses(service)),
            times=self._times,
        )
        self._pace = Pace(service.per_second, self._times)
        self._login = login_of(service.auth, self._patiently, self._times)
        self._secrets = list(service.secrets)

    def url_of(self, endpoint: str) -> httpx.URL:
        """Below the base, whatever it holds."""
        path = endpoint.strip().lstrip("/")
        return httpx.URL(f"{self.service.base_url}/{path}" if path else self.service.base_url)

    def here(self, url: str, current: httpx.URL) -> httpx.URL:
        """An address that the service gave, which must be its own: whoever is sent there is handed the credentials."""
        try:
            found = current.join(url)
        except httpx.InvalidURL:
            raise SourceFailed(f"{shown_url(current)}: it leads to what is no address") from None
        if found.scheme == "http" and self._base.scheme == "https" and found.port is None:
            found = found.copy_with(scheme="https")  # it does not know of the proxy before it
        if (found.scheme, found.host, found.port) != (self._base.scheme, self._base.host, self._base.port):
            raise SourceFailed(
                f"{shown_url(current)}: it leads to {found.scheme}://{found.netloc.decode('ascii', 'replace')}, "
                "which is not the source's base_url: its credentials are not sent there"
            )
        return found.copy_with(fragment=None, username=None, password=None)

    def ask(self, method: str, url: httpx.URL, *, params: Mapping[str, Any], body: Any = None) -> Answer:
        try:
            return self._answer(Sent(method=method, url=_with(url, params), json=body))
        except SourceFailed as failed:
            raise SourceFailed(self._masked(str(failed))) from None

    def greet(self, url: httpx.URL, *, at_its_base: bool) -> int:
        """The status of one answer. At its base a service may serve nothing: there only a refused login is wrong."""
        try:
            sent, reply = self._redirected(Sent(method="GET", url=url))
            if reply.status in (401, 403) or not (at_its_base or 200 <= reply.status < 300):
                raise self._refused(sent, reply)
        except SourceFailed as failed:
            raise SourceFailed(self._masked(str(failed))) from None
        return reply.status

    def close(self) -> None:
        self._wire.close()

    def _answer(self, sent: Sent) -> Answer:
        sent, reply = self._redirected(sent)
        if not 200 <= reply.status < 300:
            raise self._refused(sent, reply)
        try:
            page = json.loads(reply.body or b"null", parse_constant=_no_number)
        except (ValueError, RecursionError):
            raise SourceFailed(
                f"{sent.shown}: the answer is no JSON: {self._said(reply) or 'empty'}; check base_url and endpoint"
            ) from None
        return Answer(page=page, next_url=reply.next_url, url=sent.url, bytes=len(reply.body))

    def _redirected(self, sent: Sent) -> tuple[Sent, Reply]:
        """What was asked for in the end, and its answer."""
        for _ in range(MOST_REDIRECTS + 1):
            reply = self._logged_in(sent)
            if reply.status not in _REDIRECTS or not (location := reply.headers.get("location")):
                return sent, reply
            if sent.method != "GET" and reply.status not in _KEEP_THE_METHOD:
                raise SourceFailed(f"{sent.shown}: it is redirected as if it were a GET ({reply.status})")
            sent = replace(sent, url=self.here(location, sent.url))
        raise SourceFailed(f"{sent.shown}: it is redirected more than {MOST_REDIRECTS} times")

    def _logged_in(self, sent: Sent) -> Reply:
        reply = self._patiently(self._signed(sent))
        if reply.status == httpx.codes.UNAUTHORIZED and self._login.renew():
            reply = self._patiently(self._signed(sent))
        return reply

    def _signed(self, sent: Sent) -> Sent:
        credentials = self._login.credentials()
        self._learn(credentials.headers.get("authorization", "").partition(" ")[2])
        headers = {**self.service.headers, **sent.headers, **credentials.headers}
        return replace(sent, headers=headers, url=_with(sent.url, credentials.params))

    def _patiently(self, sent: Sent) -> Reply:
        """The first answer that is none of a failure that may pass."""
        failures = 0
        while True:
            self._pace.wait()
            try:
                return self._once(sent)
            except Passing as passing:
                failures += 1
                if failures > self.service.retries:
                    times = f" (asked {failures} times)" if failures > 1 else ""
                    raise SourceFailed(f"{passing}{times}") from None
                asked = passing.wait_seconds
                self._times.sleep(back_off(failures, self._times) if asked is None else asked)

    def _once(self, sent: Sent) -> Reply:
        reply = self._wire.send(sent)
        if not may_pass(reply.status):
            return reply
        said = self._said(reply)
        reason = f"{sent.shown}: the service answered {reply.status}{f': {said}' if said else ''}"
        asked = asked_seconds(reply.headers, self._times)
        if asked is not None and asked > MOST_ASKED_SECONDS:
            raise SourceFailed(
                f"{reason}; it asks to come back after {asked:g} s, and a run waits {MOST_ASKED_SECONDS:g}"
            )
        raise Passing(reason, wait_seconds=asked)

    def _refused(self, sent: Sent, reply: Reply) -> SourceFailed:
        said = self._said(reply)
        words = f"{sent.shown}: {_MEANINGS.get(reply.status, f'the service answered {reply.status}')}"
        return SourceFailed(f"{words}{f'; it says: {said}' if said else ''}")

    def _said(self, reply: Reply) -> str:
        """Masked before it is cut: half a secret would be shown."""
        return _cut(self._masked(reply.body[:_MOST_LOOKED_AT].decode("utf-8", "replace")))

    def _learn(self, secret: str) -> None:
        """What was sent as a proof: a token that was fetched, a password in its wrapping."""
        if len(secret) >= LEAST_CHARACTERS and secret not in self._secrets:
            self._secrets.append(secret)

    def _masked(self, text: str) -> str:
        return Masks.of(self._secrets).text(text)


_MEANINGS: Final[Mapping[int, str]] = {
    400: "the service does not understand the request (400): check params, body and paging",
    401: "the credentials are refused (401): check auth of the source",
    403: "the credentials are not enough for it (403): check auth of the source, and what it may read",
    404: "there is nothing at this address (404): check base_url of the source and endpoint of the job",
    405: "the method is not served there (405): check method of the job",
}


def _addresses(service: Service) -> list[str]:
    more = [service.auth.token_url] if isinstance(service.auth, OauthClient) else []
    return [service.base_url, *more]


def _with(url: httpx.URL, params: Mapping[str, Any]) -> httpx.URL:
    return url.copy_merge_params(params) if params else url


def _cut(text: str) -> str:
    """As much of it as helps, in one line."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _LONGEST_BODY else f"{line[:_LONGEST_BODY]}…"


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
