"""Where notices arrive: a real HTTP server that answers as it is told, and a real mail server."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from tests.services.server import free_port

PATIENCE_SECONDS = 20.0


class Webhook:
    """Answers with the statuses one after another, the last for ever; `hold` keeps callers waiting until `let_go`."""

    def __init__(self, *statuses: int, location: str = "") -> None:
        self.statuses = list(statuses or (200,))
        self.location = location
        self.paths: list[str] = []
        self.notices: list[dict[str, Any]] = []
        self._heard = threading.Condition()
        self._open = threading.Event()
        self._open.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_port

    @property
    def address(self) -> str:
        """With a password in it, and a path that is as good as one."""
        return f"json://ann:pass-word@127.0.0.1:{self.port}/hooks/token-1234"

    @property
    def titles(self) -> list[str]:
        return [notice["title"] for notice in self.notices]

    def hold(self) -> None:
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    def wait_for(self, count: int) -> Sequence[dict[str, Any]]:
        """Until so many have come; blocks."""
        with self._heard:
            assert self._heard.wait_for(lambda: len(self.notices) >= count, PATIENCE_SECONDS), self.notices
            return list(self.notices)

    def hear(self, path: str, notice: dict[str, Any]) -> int:
        with self._heard:
            self.paths.append(path)
            self.notices.append(notice)
            status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
            self._heard.notify_all()
        self._open.wait(PATIENCE_SECONDS)
        return status

    def __enter__(self) -> "Webhook":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        self._server.shutdown()
        self._server.server_close()


class Mailbox:
    """What a mail server took, and for whom."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[tuple[list[str], EmailMessage]] = []

    @property
    def address(self) -> str:
        return f"mailto://127.0.0.1:{self.port}/?to=ops@firm.example&from=waterclock@firm.example"

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        self.mails.append((list(envelope.rcpt_tos), mail))
        return "250 taken"


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    mailbox = Mailbox(free_port())
    controller = Controller(mailbox, hostname="127.0.0.1", port=mailbox.port)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()


def _handler(webhook: Webhook) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = webhook.hear(self.path, json.loads(body))
            try:
                self.send_response(status)
                if webhook.location:
                    self.send_header("location", webhook.location)
                self.send_header("content-length", "0")
                self.end_headers()
            except ConnectionError:  # whoever called has given up
                pass

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler
