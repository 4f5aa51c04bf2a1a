"""A client that costs little: signed calls over kept connections, from one thread of a process of its own.

It reads one order as JSON from standard input and prints one line of figures. Each call is signed as boto3 signs it,
with the date of the moment and an invocation id of its own; only the signing key, good for a day, is made once.
"""

import hashlib
import hmac
import itertools
import json
import re
import select
import socket
import sys
import time
from dataclasses import dataclass
from uuid import uuid4

SIGNED = "content-type;host;x-amz-date;x-amz-target"
REGION = "us-east-1"
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
SAMPLES = 20  # answers that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to call, for how long or how often, over how many connections.

    Each of `bodies` has its turn; `{n}` in one stands for the number of the call.
    """

    host: str
    port: int
    key: str
    secret: str
    action: str
    bodies: list[str]
    connections: int
    seconds: float
    calls: int  # at most
    first: int  # the number of the first call


class Signer:
    def __init__(self, order: Order) -> None:
        self._order = order
        self._host = f"{order.host}:{order.port}"
        self._second = 0
        self._numbers = itertools.count(order.first)
        self._bodies = itertools.cycle(order.bodies)
        self._prefix = uuid4().hex[:24]

    def request(self) -> bytes:
        """The next call."""
        order, number = self._order, next(self._numbers)
        self._tick()
        body = next(self._bodies).replace("{n}", str(number)).encode()
        canonical = f"{self._canonical}{hashlib.sha256(body).hexdigest()}"
        to_sign = f"{self._to_sign}{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(self._signing_key, to_sign.encode(), "sha256").hex()
        head = (
            f"POST / HTTP/1.1\r\nHost: {self._host}\r\nAccept-Encoding: identity\r\n"
            f"X-Amz-Target: AWSGlue.{order.action}\r\nContent-Type: application/x-amz-json-1.1\r\n"
            f"User-Agent: bench\r\nX-Amz-Date: {self._stamp}\r\nAuthorization: {self._claim}{signature}\r\n"
            f"amz-sdk-invocation-id: {self._prefix}{number:012x}\r\namz-sdk-request: attempt=1\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def _tick(self) -> None:
        """What changes once a second."""
        now = int(time.time())
        if now == self._second:
            return
        order, self._second = self._order, now
        self._stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        scope = f"{self._stamp[:8]}/{REGION}/glue/aws4_request"
        target = f"AWSGlue.{order.action}"
        self._canonical = (
            f"POST\n/\n\ncontent-type:application/x-amz-json-1.1\nhost:{self._host}\nx-amz-date:{self._stamp}\n"
            f"x-amz-target:{target}\n\n{SIGNED}\n"
        )
        self._to_sign = f"AWS4-HMAC-SHA256\n{self._stamp}\n{scope}\n"
        self._claim = f"AWS4-HMAC-SHA256 Credential={order.key}/{scope}, SignedHeaders={SIGNED}, Signature="
        signing_key = f"AWS4{order.secret}".encode()
        for part in scope.split("/"):
            signing_key = hmac.digest(signing_key, part.encode(), "sha256")
        self._signing_key = signing_key


class Line:
    """One connection with one call under way; made anew where the server closes it after each answer."""

    def __init__(self, order: Order) -> None:
        self._address = (order.host, order.port)
        self.socket = self._connected()

    def _connected(self) -> socket.socket:
        made = socket.create_connection(self._address, timeout=30)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def closes(self) -> bool:
        """Whether the server said so in its last answer."""
        return b"connection: close" in self.received.partition(b"\r\n\r\n")[0].lower()

    def reopen(self) -> None:
        self.socket.close()
        self.socket = self._connected()

    def send(self, request: bytes) -> None:
        self.received, self.began = b"", time.perf_counter()
        self.socket.sendall(request)

    def answer(self) -> bytes | None:
        """The body of the answer, or None while some of it is still to come."""
        more = self.socket.recv(262_144)
        if not more:
            raise SystemExit(f"the server closed the connection after {self.received!r}")
        self.received += more
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found or len(body) < int(LENGTH.search(head)[1]):  # type: ignore[index]
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"refused: {self.received.decode()}")
        return body


class Calls:
    """Made until the time or the number of them is up; `spans` is how long each took."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._signer = Signer(order)
        self._poll = select.epoll()
        self._lines: dict[int, Line] = {}
        self._left = order.calls
        self._under_way = 0
        self.spans: list[float] = []
        self.samples: list[object] = []
        self.seconds = 0.0

    def make(self) -> None:
        lines = [Line(self._order) for _ in range(self._order.connections)]
        began = time.perf_counter()
        self._until = began + self._order.seconds
        for line in lines:
            self._open(line)
            self._next(line)
        while self._under_way:
            for number, _ in self._poll.poll(30):
                line = self._lines[number]
                body = line.answer()
                if body is not None:
                    self._take(line, body)
                    self._next(line)
        self.seconds = time.perf_counter() - began

    def _open(self, line: Line) -> None:
        self._lines[line.socket.fileno()] = line
        self._poll.register(line.socket, select.EPOLLIN)

    def _next(self, line: Line) -> None:
        if self._left <= 0 or time.perf_counter() > self._until:
            return
        self._left -= 1
        self._under_way += 1
        line.send(self._signer.request())

    def _take(self, line: Line, body: bytes) -> None:
        self._under_way -= 1
        self.spans.append(time.perf_counter() - line.began)
        if len(self.samples) < SAMPLES:
            self.samples.append(json.loads(body))
        if line.closes():
            self._poll.unregister(line.socket)
            line.reopen()
            self._open(line)


def main() -> None:
    calls = Calls(Order(**json.load(sys.stdin)))
    calls.make()
    figures = {"calls": len(calls.spans), "seconds": calls.seconds, "spans": calls.spans, "samples": calls.samples}
    print(json.dumps({**figures, "cpu_seconds": time.process_time()}))


if __name__ == "__main__":
    main()
