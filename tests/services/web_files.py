"""A web server of the tests that serves files from memory, and misbehaves as it is told."""

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass(slots=True, kw_only=True)
class Served:
    content: bytes = b""
    cut_at: int | None = None  # the line is hung up after so many bytes
    says_length: bool = True
    has_version: bool = True
    location: str = ""
    later: list[bytes] = field(default_factory=list)  # what it is at the following calls


class WebFiles:
    """`files` by path; `asked` is every path with the headers that came with it."""

    def __init__(self) -> None:
        self.files: dict[str, Served] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(web: WebFiles) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            served = web.files.get(self.path.partition("?")[0])
            try:
                if served is None:
                    self.send_error(404)
                elif served.location:
                    self._head(302, location=served.location, **{"content-length": "0"})
                else:
                    self._send(served)
            except ConnectionError:  # whoever asked wanted no more than the headers
                pass

        def _send(self, served: Served) -> None:
            content = served.content
            if served.later:
                served.content = served.later.pop(0)
            length = {"content-length": str(len(content))} if served.says_length else {}
            version = {"etag": f'"{hashlib.sha256(content).hexdigest()[:16]}"'} if served.has_version else {}
            self._head(200, **length, **version)
            self.wfile.write(content[: served.cut_at])

        def _head(self, status: int, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler
