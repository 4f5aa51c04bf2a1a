"""The client of a server's JSON: calls, pages and followed logs; what goes wrong is said with what to do about it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx

from waterclock.faces.cli.failure import Failure, Refused

PAGE: Final = 1_000
CALL: Final = httpx.Timeout(60, connect=5)
FOLLOW: Final = httpx.Timeout(30, connect=5)  # a follower hears a sign of life every second
API: Final = "/api/v1"
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class Lost(Failure):
    """The server did not answer, or stopped answering."""


class Taken(Refused):
    """What was to be made is there already."""


class Client:
    """Of the face whose paths lie below `base`; `server_time` is the server's clock at its last answer."""

    def __init__(self, server: str, token: str | None, *, base: str = API) -> None:
        self.server = server.rstrip("/")
        if urlsplit(self.server).scheme not in ("http", "https"):
            raise Refused(f"--server must be an http:// or https:// address, not {server!r}")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        near = urlsplit(self.server).hostname in LOOPBACK  # no proxy stands between us and ourselves
        self._http = httpx.Client(base_url=f"{self.server}{base}", headers=headers, timeout=CALL, trust_env=not near)
        self.server_time: datetime | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def get(self, path: str, **query: object) -> Any:
        return self._call("GET", path, query=query)

    def post(self, path: str, body: object = None, **query: object) -> Any:
        return self._call("POST", path, body, query)

    def put(self, path: str, body: object, **query: object) -> Any:
        return self._call("PUT", path, body, query)

    def delete(self, path: str, **query: object) -> Any:
        return self._call("DELETE", path, query=query)

    def items(self, path: str, *, most: int | None = None, **query: object) -> Iterator[Any]:
        """Of all pages, up to `most`."""
        token, left = None, most
        while left is None or left > 0:
            page = self.get(path, **query, size=PAGE if left is None else min(left, PAGE), token=token)
            yield from page["items"]
            token = page["next_token"]
            left = None if left is None else left - len(page["items"])
            if token is None:
                return

    def events(self, path: str, **query: object) -> Iterator[tuple[str, Any]]:
        """Server-sent events, each as its name and its data."""
        with (
            self._reached(),
            self._http.stream(
                "GET", path, params=_given(query), headers={"accept": "text/event-stream"}, timeout=FOLLOW
            ) as response,
        ):
            if not response.is_success:
                response.read()
                raise self._failure(response)
            yield from _events(response.iter_bytes())

    def _call(self, method: str, path: str, body: object = None, query: dict[str, object] | None = None) -> Any:
        with self._reached():
            response = self._http.request(method, path, json=body, params=_given(query or {}))
        self.server_time = _date(response.headers.get("date", ""))
        if not response.is_success:
            raise self._failure(response)
        try:
            return response.json()
        except ValueError:
            raise Failure(f"{self.server} is no waterclock server: it did not answer in JSON") from None

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except httpx.ConnectError:
            raise Lost(
                f"no server at {self.server}: start one with `waterclock up`, or name it with --server"
            ) from None
        except httpx.TimeoutException:
            raise Lost(f"{self.server} does not answer in time: try again") from None
        except (httpx.TransportError, httpx.InvalidURL) as problem:
            raise Lost(f"the connection to {self.server} failed: {problem}") from None

    def _failure(self, response: httpx.Response) -> Failure:
        try:
            message, kind = _told(response.json())
        except (ValueError, KeyError, TypeError, AttributeError):
            return Failure(f"{self.server} answered {response.status_code}: is it a waterclock server?")
        if response.status_code == 401:
            message += "; give one in WATERCLOCK_TOKEN, or the server's data directory in --data-dir"
        meant = response.request.url.params.get("namespace")
        if response.status_code == 404 and meant:
            message += f" among the names of {meant!r}; --namespace names another face"
        if response.status_code == 503:
            return Lost(message)
        if kind == "already_exists":
            return Taken(message)
        return Refused(message) if response.status_code < 500 else Failure(message)


def path(*parts: str) -> str:
    """Each part may hold any character; dots are encoded so that nobody takes `..` for the parent."""
    return "/" + "/".join(quote(part, safe="").replace(".", "%2E") for part in parts)


def _told(answer: Any) -> tuple[str, str]:
    """The message and its type; the lake face has them at the top, under its own names."""
    error = answer.get("error") or {"message": answer["message"], "type": answer["reason"]}
    return str(error["message"]), str(error["type"])


def _date(header: str) -> datetime | None:
    try:
        return parsedate_to_datetime(header).astimezone(UTC)
    except ValueError:
        return None


def _given(query: dict[str, object]) -> dict[str, Any]:
    return {name.rstrip("_"): value for name, value in query.items() if value is not None}


def _events(chunks: Iterator[bytes]) -> Iterator[tuple[str, Any]]:
    """By bytes: some characters inside the data would pass for ends of lines."""
    pending = b""
    for chunk in chunks:
        *whole, pending = (pending + chunk).split(b"\n\n")
        for event in whole:
            fields = dict(line.split(b": ", 1) for line in event.split(b"\n") if b": " in line)
            yield fields[b"event"].decode(), json.loads(fields[b"data"])
