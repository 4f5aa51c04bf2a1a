"""A ClickHouse server over plain HTTP: one statement a call, its answer or its complaint in words."""

import re
import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.words import text_of

SECONDS: Final = 60.0  # for an answer; a statement that takes longer says so
_CONNECT_SECONDS: Final = 5.0
_LONGEST: Final = 600
_LONGEST_IN_URL: Final = 4_000  # quoted it may be three times as long, and an old server takes 16 KiB
_BEFORE: Final = re.compile(r"^(?:Code: ([0-9]+)[.,]\s*(?:e\.displayText\(\) = )?(?:DB::Exception:\s*)?)+")
_AFTER: Final = re.compile(r"(?:, e\.what\(\) = .*|\s*\(version [^)]*(?:\([^)]*\))?\)?\s*)$")
# A server whose machine is gone says nothing: the system asks for it, while we wait for an answer.
_KEPT_ALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4),
)


class Refused(OutputFailed):
    """The server's own complaint, with its number."""

    def __init__(self, where: str, code: int, words: str) -> None:
        super().__init__(f"{where}: {words}")
        self.code = code
        self.words = words


class Server:
    def __init__(self, account: Mapping[str, str], *, about: str) -> None:
        """`account`: url, user and password, as the admin's settings have them; `about`: the table, for messages."""
        self._url = _checked(account.get("url", ""))
        self.where = f"ClickHouse at {self._url} {about}"
        self._headers = {"X-ClickHouse-User": account.get("user") or "default"}
        if password := account.get("password"):
            self._headers["X-ClickHouse-Key"] = password
        self._client: Any = None

    def ask(
        self, statement: str, settings: Mapping[str, str] | None = None, *, data: bytes = b"", seconds: float = SECONDS
    ) -> str:
        """`data`: the rows of an INSERT."""
        import httpx

        params, body = _with_rows(statement, data, settings or {})
        timeout = httpx.Timeout(seconds, connect=_CONNECT_SECONDS)
        try:
            # A body that is handed over as bytes stays with its request until the next collection of garbage.
            length = {"content-length": str(len(body))}
            answer = self._http().post(self._url, content=iter((body,)), headers=length, params=params, timeout=timeout)
        except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
            raise OutputFailed(f"{self.where}: it cannot be reached: {problem} (setting clickhouse.url)") from None
        except httpx.ReadTimeout:
            raise OutputFailed(f"{self.where}: it has not answered for {seconds:g} s") from None
        except httpx.HTTPError as problem:
            raise OutputFailed(f"{self.where}: the connection was lost: {text_of(problem)}") from None
        if answer.status_code != httpx.codes.OK:
            raise _refused(self.where, answer.status_code, answer.text)
        return str(answer.text)

    def rows(self, statement: str) -> list[list[str]]:
        """Of a SELECT, as texts."""
        text = self.ask(f"{statement} FORMAT TabSeparated")
        return [[_unescaped(cell) for cell in line.split("\t")] for line in text.split("\n")[:-1]]

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _http(self) -> Any:
        import httpx

        if self._client is None:
            # Plain HTTP needs no certificates, and to load them takes longer than all statements.
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if self._url.startswith("http:") else True
            # A line that is not kept cannot be hung up by the server just when the next statement goes out.
            limits = httpx.Limits(max_keepalive_connections=0)
            transport = httpx.HTTPTransport(socket_options=_KEPT_ALIVE, limits=limits, verify=verify)
            # Proxies of the environment are for others: this address is the admin's.
            self._client = httpx.Client(headers=self._headers, transport=transport, trust_env=False)
        return self._client


def _with_rows(statement: str, data: bytes, settings: Mapping[str, str]) -> tuple[Mapping[str, str], bytes]:
    """The statement beside them; before them where a URL cannot hold it."""
    if not data:
        return settings, statement.encode()
    if len(statement) > _LONGEST_IN_URL:
        return settings, statement.encode() + b"\n" + data
    return {**settings, "query": statement}, data


def identifier(name: str) -> str:
    """Quoted: whatever it holds, it is one name."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def complaint(text: str) -> tuple[int, str]:
    """Its number and its words, without what is for ClickHouse's own developers."""
    line = text.strip().partition("\n")[0]
    found = _BEFORE.match(line)
    words = _AFTER.sub("", line[found.end() :] if found else line).strip()
    return int(found.group(1)) if found else 0, words[:_LONGEST]


def _refused(where: str, status: int, text: str) -> Refused:
    code, words = complaint(text)
    return Refused(where, code, words or f"HTTP status {status}")


def _checked(url: str) -> str:
    if not url:
        raise OutputFailed("no ClickHouse is known here: an admin names it in the setting clickhouse.url")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OutputFailed("the setting clickhouse.url is no address such as http://host:8123")
    if parts.username is not None or parts.password is not None:
        raise OutputFailed(
            "the setting clickhouse.url holds a user: clickhouse.user and clickhouse.password are for that"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


_ESCAPES: Final = {
    "\\t": "\t",
    "\\n": "\n",
    "\\\\": "\\",
    "\\'": "'",
    "\\r": "\r",
    "\\0": "\0",
    "\\b": "\b",
    "\\f": "\f",
}


def _unescaped(cell: str) -> str:
    return re.sub(r"\\.", lambda found: _ESCAPES.get(found.group(), found.group()), cell)
