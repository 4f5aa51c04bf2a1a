"""A REST service of the tests: records in every style of paging, and the faults that services have.

    with RestService(numbered(25), token="a-token") as service:
        service.fail(Fault(status=429, headers={"retry-after": "7"}), Fault(cut=0.5))   # the next two requests
        … f"{service.url}/pages?page=1&size=10" …

| path | what it answers |
|---|---|
| /all | all records, as a list |
| /pages?page=&size= | `{"items", "total"}`, from page 1 |
| /offsets?offset=&limit= | `{"data": {"items"}, "more"}`; it never gives more than `most` |
| /cursors?cursor= | `{"items", "next"}`, the last with null; as a POST the cursor is in the body |
| /links?page= | a list, with a Link header |
| /nexts?page= | `{"results", "next"}`, an address; of another host where `elsewhere` is set |
| /endless?page= | new records in every page, for ever |
| /same?page= | the same records in every page, for ever |
| /circle?cursor= | two cursors that lead to each other |
| /moved, /away | redirects: to /all, and to `elsewhere` |
| /html | a page that is no JSON, with 200 |
| /token | for client credentials |

All but /endless and /same leave out what was updated before `?updated_since=`.
"""

import base64
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import parse_qsl, urlsplit

PATIENCE_SECONDS: Final = 20.0
CLIENT: Final = ("a-client", "a-client-secret")

Record = Mapping[str, Any]


def numbered(count: int, **more: object) -> list[Record]:
    """Each with an id and the second at which it was updated."""
    return [
        {
            "id": number,
            "name": f"name {number}",
            "updated_at": f"2026-11-16T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
            **more,
        }
        for number in range(1, count + 1)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a request gets in the place of its answer."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = "a fault of the tests"
    cut: float | None = None  # so much of the answer, then the line is dead
    held: bool = False  # until `let_go`


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    page: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    @property
    def bytes(self) -> bytes:
        return json.dumps(self.page).encode() if self.raw is None else self.raw


class RestService:
    def __init__(self, records: Iterable[Record] = (), *, most: int = 10, token: str = "", elsewhere: str = "") -> None:
        self.records = list(records)
        self.most, self.token, self.elsewhere = most, token, elsewhere
        self.asked: list[Asked] = []
        self.tokens_given = 0
        self.fails: Callable[[int], Fault | None] = lambda number: None  # by the number of the request, from 1
        self._faults: list[Fault | None] = []
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def fail(self, *faults: Fault | None) -> None:
        """The next requests, one after another; None is none."""
        self._faults += faults

    def let_go(self) -> None:
        self._open.set()

    def paths(self) -> list[str]:
        return [each.path for each in self.asked]

    def params(self, name: str) -> list[str | None]:
        return [each.params.get(name) for each in self.asked]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        self._server.shutdown()
        self._server.server_close()

    # For its handler

    def hear(self, asked: Asked) -> tuple[Fault | None, Answer]:
        with self._lock:
            self.asked.append(asked)
            fault = self._faults.pop(0) if self._faults else self.fails(len(self.asked))
        if fault and fault.held:
            self._open.wait(PATIENCE_SECONDS)
        return fault, self._answer(asked)

    def _answer(self, asked: Asked) -> Answer:
        if asked.path == "/token":
            return self._token(asked)
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return Answer(status=401, page={"error": f"not {asked.headers.get('authorization')}"})
        routes: Mapping[str, Callable[[Asked, Sequence[Record]], Answer]] = {
            "/all": lambda asked, records: Answer(page=records),
            "/pages": self._pages,
            "/offsets": self._offsets,
            "/cursors": self._cursors,
            "/links": self._links,
            "/nexts": self._nexts,
            "/endless": self._endless,
            "/same": lambda asked, records: Answer(page=records[: self.most]),
            "/circle": lambda asked, records: Answer(
                page={"items": records[:1], "next": "b" if asked.params.get("cursor") == "a" else "a"}
            ),
            "/moved": lambda asked, records: Answer(status=302, headers={"location": "/all"}),
            "/away": lambda asked, records: Answer(status=302, headers={"location": self.elsewhere}),
            "/html": lambda asked, records: Answer(
                raw=b"<html>\n<p>Sign in</html>", headers={"content-type": "text/html"}
            ),
        }
        if asked.path not in routes:
            return Answer(status=404, page={"error": "no such path"})
        return routes[asked.path](asked, self._since(asked))

    def _since(self, asked: Asked) -> list[Record]:
        since = asked.params.get("updated_since", "")
        return [each for each in self.records if not since or (each["updated_at"] or "") >= since]

    def _pages(self, asked: Asked, records: Sequence[Record]) -> Answer:
        size = min(int(asked.params.get("size", self.most)), self.most)
        begin = (int(asked.params["page"]) - 1) * size
        return Answer(page={"items": records[begin : begin + size], "total": len(records)})

    def _offsets(self, asked: Asked, records: Sequence[Record]) -> Answer:
        begin = int(asked.params["offset"])
        end = begin + min(int(asked.params.get("limit", self.most)), self.most)
        return Answer(page={"data": {"items": records[begin:end]}, "more": end < len(records)})

    def _cursors(self, asked: Asked, records: Sequence[Record]) -> Answer:
        given = asked.params if asked.method == "GET" else asked.body
        begin = int(given.get("cursor", "c-0").removeprefix("c-"))
        end = begin + self.most
        return Answer(page={"items": records[begin:end], "next": f"c-{end}" if end < len(records) else None})

    def _links(self, asked: Asked, records: Sequence[Record]) -> Answer:
        number = int(asked.params.get("page", 1))
        begin, end = (number - 1) * self.most, number * self.most
        more = {"link": f'</links?page={number + 1}>; rel="next", </links?page=1>; rel="first"'}
        return Answer(page=records[begin:end], headers=more if end < len(records) else {})

    def _nexts(self, asked: Asked, records: Sequence[Record]) -> Answer:
        number = int(asked.params.get("page", 1))
        begin, end = (number - 1) * self.most, number * self.most
        url = f"{self.elsewhere or self.url}/nexts?page={number + 1}"
        return Answer(page={"results": records[begin:end], "next": url if end < len(records) else None})

    def _endless(self, asked: Asked, records: Sequence[Record]) -> Answer:
        number = int(asked.params["page"])
        return Answer(page=[{"id": number * 10 + each} for each in range(10)])

    def _token(self, asked: Asked) -> Answer:
        """A new one each time; those before are refused from then on."""
        login = base64.b64encode(":".join(CLIENT).encode()).decode()
        if asked.headers.get("authorization") != f"Basic {login}":
            return Answer(status=401, page={"error": "invalid_client"})
        if asked.body.get("grant_type") != "client_credentials":
            return Answer(status=400, page={"error": "unsupported_grant_type"})
        self.tokens_given += 1
        self.token = f"token-{self.tokens_given}"
        return Answer(page={"access_token": self.token, "token_type": "Bearer", "expires_in": 3600})


def _handler(service: RestService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = Asked(
                method=self.command,
                path=parts.path,
                params=dict(parse_qsl(parts.query, keep_blank_values=True)),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=self._body(),
            )
            fault, answer = service.hear(asked)
            try:
                self._send(fault, answer)
            except ConnectionError:  # whoever asked has given up
                self.close_connection = True

        do_POST = do_GET

        def _body(self) -> Any:
            text = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            if "json" in self.headers.get("content-type", ""):
                return json.loads(text)
            return dict(parse_qsl(text))

        def _send(self, fault: Fault | None, answer: Answer) -> None:
            if fault and fault.status:
                answer = Answer(status=fault.status, headers=fault.headers, raw=fault.body.encode())
            data = answer.bytes
            if fault and fault.cut is not None:
                self.close_connection = True
                if not fault.cut:
                    return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: int(len(data) * fault.cut)] if fault and fault.cut is not None else data)

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler
