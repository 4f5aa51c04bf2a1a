"""Clients that no server deserves, in a process of their own: `python -m tests.chaos.tools.hostile PORT TOKEN`.

Bounded: each kind has so many connections, and all of them end when the server lets go of them. What was answered is
printed as JSON: by kind, how often each status came, and how long the longest wait for it was.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

LONGEST_SECONDS: Final = 60.0
BIG_BYTES: Final = 100 * 1024 * 1024
BLOCK: Final = bytes(256 * 1024)
DEPTH: Final = 100_000
HEADERS: Final = 10_000
NO_ANSWER: Final = "none"


@dataclass(slots=True)
class Answers:
    """Of one kind of client."""

    statuses: dict[str, int] = field(default_factory=dict)
    longest_seconds: float = 0.0

    def add(self, status: str, seconds: float) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.longest_seconds = max(self.longest_seconds, seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    port: int
    token: str

    def head(self, path: str, length: int, *more: str) -> bytes:
        lines = (f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *more)
        return "\r\n".join(
            (*lines, f"Authorization: Bearer {self.token}", f"Content-Length: {length}", "", "")
        ).encode()


Client = Callable[[Target, asyncio.StreamWriter, asyncio.Event], Awaitable[None]]


async def big_body(target: Target, writer: asyncio.StreamWriter, answered: asyncio.Event) -> None:
    """It says how large it is, and sends it all the same, until it is cut off."""
    writer.write(target.head("/api/v1/jobs", BIG_BYTES))
    await _pour(writer, BIG_BYTES, answered)


async def big_glue_body(target: Target, writer: asyncio.StreamWriter, answered: asyncio.Event) -> None:
    """It does not say how large it is."""
    writer.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Amz-Target: AWSGlue.CreateJob\r\n")
    writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    size = b"%x\r\n" % len(BLOCK)
    for _ in range(BIG_BYTES // len(BLOCK)):
        if answered.is_set():
            return
        writer.write(size + BLOCK + b"\r\n")
        await writer.drain()


async def deep_json(target: Target, writer: asyncio.StreamWriter, _: asyncio.Event) -> None:
    body = b'{"name":' + b"[" * DEPTH + b"]" * DEPTH + b"}"
    writer.write(target.head("/api/v1/jobs", len(body)) + body)


async def many_headers(target: Target, writer: asyncio.StreamWriter, _: asyncio.Event) -> None:
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    writer.write(b"".join(b"x-%d: 1\r\n" % number for number in range(HEADERS)) + b"\r\n")


async def slow_head(target: Target, writer: asyncio.StreamWriter, answered: asyncio.Event) -> None:
    """A line every second, and never the last."""
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    await _drip(writer, b"x-more: 1\r\n", answered)


async def slow_body(target: Target, writer: asyncio.StreamWriter, answered: asyncio.Event) -> None:
    """A byte every second."""
    writer.write(target.head("/api/v1/jobs", 1000))
    await _drip(writer, b"{", answered)


async def slow_glue_body(target: Target, writer: asyncio.StreamWriter, answered: asyncio.Event) -> None:
    writer.write(target.head("/", 1000, "X-Amz-Target: AWSGlue.CreateJob"))
    await _drip(writer, b"{", answered)


async def never_reads(target: Target, writer: asyncio.StreamWriter, answered: asyncio.Event) -> None:
    """One request after another on one connection, as quickly as they go out."""
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    writer.write(whole * 2_000 + b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")


# The client, how many of it, one after another or all at once.
KINDS: Final[dict[str, tuple[Client, int, int]]] = {
    "100 MB body": (big_body, 8, 2),
    "100 MB body without a length": (big_glue_body, 8, 2),
    "100,000 deep JSON": (deep_json, 200, 4),
    "10,000 headers": (many_headers, 200, 4),
    "slow head": (slow_head, 300, 300),
    "slow body": (slow_body, 100, 100),
    "slow body of Glue": (slow_glue_body, 100, 100),
    "2,000 requests unread": (never_reads, 8, 2),
}


async def attack(target: Target) -> dict[str, Answers]:
    found = {kind: Answers() for kind in KINDS}
    await asyncio.gather(*(_kind(target, found[kind], *how) for kind, how in KINDS.items()))
    return found


async def _kind(target: Target, answers: Answers, client: Client, count: int, at_once: int) -> None:
    room = asyncio.Semaphore(at_once)

    async def one() -> None:
        async with room:
            began = time.monotonic()
            answers.add(await _status(target, client), time.monotonic() - began)

    await asyncio.gather(*(one() for _ in range(count)))


async def _status(target: Target, client: Client) -> str:
    """The first answer; a connection that is closed without one counts as none."""
    answered = asyncio.Event()
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    sending = asyncio.create_task(_quietly(client(target, writer, answered)))
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            line = await reader.readline()
        return line.split()[1].decode() if line else NO_ANSWER
    except (OSError, TimeoutError):
        return NO_ANSWER
    finally:
        answered.set()
        sending.cancel()
        writer.transport.abort()


async def _quietly(work: Awaitable[None]) -> None:
    with suppress(OSError):  # it was cut off
        await work


async def _pour(writer: asyncio.StreamWriter, count: int, answered: asyncio.Event) -> None:
    for _ in range(count // len(BLOCK)):
        if answered.is_set():
            return
        writer.write(BLOCK)
        await writer.drain()


async def _drip(writer: asyncio.StreamWriter, drop: bytes, answered: asyncio.Event) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until and not answered.is_set():
        writer.write(drop)
        await writer.drain()
        await asyncio.sleep(1)


if __name__ == "__main__":
    done = asyncio.run(attack(Target(port=int(sys.argv[1]), token=sys.argv[2])))
    print(json.dumps({kind: [each.statuses, each.longest_seconds] for kind, each in done.items()}))
