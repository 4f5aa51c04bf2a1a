"""Files of a web server: each is named, for a web server lists nothing.

A redirect is followed to public addresses only (as every connection is), never from https to http, and what logs us in
goes no further than the server that the source names.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final
from urllib.parse import urljoin, urlsplit

from waterclock.reachable import public_only
from waterclock.runners.sync.places.place import CHUNK_BYTES, Found, Stream
from waterclock.runners.sync.service.config import Service, service_of
from waterclock.runners.sync.service.login import Credentials, login_of
from waterclock.runners.sync.service.retry import Passing
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.service.wire import ALLOWED_BY, Reply, Sent, Wire
from waterclock.runners.sync.source import Means, SourceFailed

_CONNECT_SECONDS: Final = 10.0
_MOST_REDIRECTS: Final = 5
_MOVED: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410, 412})
_CLOSED: Final = frozenset({401, 403})
_NO_LOGIN: Final = 401
_BROKEN: Final = 500


class Web:
    """GET, with a login and redirects: what the files of a web server and a sheet's export have in common."""

    def __init__(self, service: Service, means: Means) -> None:
        self.where = service.base_url
        self._service, self._means = service, means
        self._login = login_of(service.auth, self._token, Times())
        self._client: Any = None

    def get(self, path: str) -> Any:
        """The answer of httpx, its body still to be read; whoever asks closes it."""
        answer = self.ask(path)
        if answer.is_success:
            return answer
        answer.close()
        shown = f"{self.where}/{path.partition('?')[0]}"
        if answer.status_code in _CLOSED:
            raise SourceFailed(f"{shown}: the server refuses the login (HTTP status {answer.status_code}): check auth")
        if answer.status_code in _GONE:
            raise SourceFailed(f"{shown} is not there, or is there no more (HTTP status {answer.status_code})")
        raise SourceFailed(f"{shown}: HTTP status {answer.status_code}")

    def ask(self, path: str) -> Any:
        """Whatever its status is."""
        address = f"{self.where}/{path}"
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._sent(address)
            if answer.status_code not in _MOVED:
                return answer
            answer.close()
            address = _next(address, answer.headers.get("location", ""))
        raise SourceFailed(f"{self.where}/{path.partition('?')[0]}: more than {_MOST_REDIRECTS} redirects")

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _sent(self, address: str) -> Any:
        is_ours = _origin(address) == _origin(self.where)
        login = self._login.credentials() if is_ours else Credentials()
        headers = {"accept-encoding": "identity", **(self._service.headers if is_ours else {}), **login.headers}
        with self._said(address):
            request = self._http().build_request("GET", address, headers=headers)
            request.url = request.url.copy_merge_params(login.params) if login.params else request.url
            return self._http().send(request, stream=True)

    def _token(self, sent: Sent) -> Reply:
        """Fetched for a login that needs one."""
        seconds, tls = self._service.timeout_seconds, sent.url.scheme == "https"
        wire = Wire(allows_private=self._means.allows_private, timeout_seconds=seconds, tls=tls, times=Times())
        try:
            return wire.send(sent)
        except Passing as passing:
            raise SourceFailed(str(passing)) from None
        finally:
            wire.close()

    def _http(self) -> Any:
        import httpx

        if self._client is None:
            timeout = httpx.Timeout(self._service.timeout_seconds, connect=_CONNECT_SECONDS)
            self._client = httpx.Client(timeout=timeout, trust_env=False)
        return self._client

    @contextmanager
    def _said(self, address: str) -> Iterator[None]:
        import httpx

        shown = address.partition("?")[0]
        with public_only(unless=self._means.allows_private) as refused:
            try:
                yield
            except (httpx.HTTPError, httpx.InvalidURL) as problem:
                if refused:
                    raise SourceFailed(f"{shown}: {refused[-1]} is not a public address; {ALLOWED_BY}") from None
                raise SourceFailed(f"{shown} cannot be reached: {self._service.masked(str(problem))}") from None


class HttpPlace:
    is_listed = False

    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        self._web = Web(service_of(config), means)
        self.where = self._web.where

    def test(self) -> str:
        """Few servers show what is at the address itself; that it is closed or not there says nothing of the files."""
        status = self._web.ask("").status_code
        if status == _NO_LOGIN or status >= _BROKEN:
            raise SourceFailed(f"{self.where}: HTTP status {status}")
        return f"{self.where} answered (HTTP status {status})"

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        """One, or several with spaces between them."""
        return [self._found(_path(name)) for name in pattern.split()]

    def open(self, found: Found) -> Stream:
        answer = self._web.get(found.name)
        shown = f"{self.where}/{found.name.partition('?')[0]}"
        if _version(answer.headers) != found.version:
            answer.close()
            raise SourceFailed(f"{shown} was changed while it was read")
        return WebStream(answer, shown)

    def close(self) -> None:
        self._web.close()

    def _found(self, path: str) -> Found:
        answer = self._web.get(path)
        answer.close()
        length = answer.headers.get("content-length")
        return Found(name=path, version=_version(answer.headers), size=int(length) if length else None)


class WebStream:
    def __init__(self, answer: Any, shown: str) -> None:
        self._answer, self._shown = answer, shown
        self._length = answer.headers.get("content-length")
        if self._length is None and "chunked" not in answer.headers.get("transfer-encoding", "").lower():
            answer.close()
            raise SourceFailed(f"{shown}: the server does not say how long it is, so that a part would pass for all")
        self._chunks: Iterator[bytes] = answer.iter_raw(CHUNK_BYTES)
        self._rest = b""
        self._read = 0

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        import httpx

        try:
            while not self._rest and (chunk := next(self._chunks, None)) is not None:
                self._rest = chunk
        except httpx.HTTPError:
            of = f" of {self._length}" if self._length else ""
            raise SourceFailed(f"{self._shown}: the connection was cut after {self._read}{of} bytes") from None
        data, self._rest = self._rest[:size], self._rest[size:]
        self._read += len(data)
        return data

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None: ...  # an answer is one version

    def close(self) -> None:
        self._answer.close()


def _path(pattern: str) -> str:
    if "*" in pattern:
        raise SourceFailed(
            f"path {pattern!r}: a web server lists nothing, so each file is named (several with spaces between)"
        )
    if "://" in pattern.partition("?")[0] or not pattern.isprintable():
        raise SourceFailed(f"path {pattern!r} must be below base_url")
    return pattern.lstrip("/")


def _next(address: str, location: str) -> str:
    there = urljoin(address, location)
    if urlsplit(there).scheme not in ("http", "https"):
        raise SourceFailed(f"{address.partition('?')[0]} redirects to something that is no web address")
    if address.startswith("https:") and not there.startswith("https:"):
        raise SourceFailed(f"{address.partition('?')[0]} redirects from https to http")
    return there


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc


def _version(headers: Mapping[str, str]) -> str:
    if etag := headers.get("etag"):
        return str(etag).removeprefix("W/").strip('"')
    changed = headers.get("last-modified")
    return f"{changed} {headers.get('content-length', '')}".strip() if changed else ""
