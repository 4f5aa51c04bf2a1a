"""One object in a bucket, behind so much of S3's protocol as a reader needs, that answers when the test lets it."""

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

HELD_SECONDS = 120.0
LISTED = """<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>held</Name><KeyCount>1</KeyCount>
<IsTruncated>false</IsTruncated><Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>
<ETag>"1"</ETag><Size>{size}</Size></Contents></ListBucketResult>"""


class HeldBucket:
    """`s3://held/t.parquet`: whoever asks for it is `asked`, and waits until `release`."""

    def __init__(self, body: bytes) -> None:
        self.asked, self._released = threading.Event(), threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(body, self.asked, self._released))
        self._server.daemon_threads = True

    def __enter__(self) -> "HeldBucket":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def release(self) -> None:
        self._released.set()


def _handler(body: bytes, asked: threading.Event, released: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            asked.set()
            released.wait(HELD_SECONDS)
            is_list = "list-type" in (urlsplit(self.path).query)
            data = LISTED.format(key="t.parquet", size=len(body)).encode() if is_list else body
            with suppress(OSError):
                self._answer(data, None if is_list else self.headers.get("Range"))

        def _answer(self, data: bytes, span: str | None) -> None:
            self.send_response(206 if span else 200)
            if span:
                first, _, last = span.removeprefix("bytes=").partition("-")
                start = int(first) if first else len(data) - int(last)
                end = min(int(last) + 1, len(data)) if first and last else len(data)
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
                data = data[start:end]
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
