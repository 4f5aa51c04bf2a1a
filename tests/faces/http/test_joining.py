"""The head and the body of an answer leave together; neither waits for the other for long."""

import asyncio
from typing import cast

from waterclock.faces.http.joining import Joining

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


class Wire:
    """A transport that keeps what was done to it."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def write_eof(self) -> None:
        self.done.append("eof")

    def close(self) -> None:
        self.done.append("close")

    def is_closing(self) -> bool:
        return False


def joined() -> tuple[Joining, Wire]:
    wire = Wire()
    return Joining(cast(asyncio.Transport, wire), asyncio.get_running_loop()), wire


async def test_a_head_and_its_body_are_written_at_once() -> None:
    joining, wire = joined()
    joining.write(HEAD)
    assert wire.done == []
    joining.write(b"{}")
    joining.write(b"more")
    assert wire.done == [HEAD + b"{}", b"more"]


async def test_a_head_whose_body_is_late_goes_alone() -> None:
    joining, wire = joined()
    joining.write(HEAD)
    await asyncio.sleep(0)
    assert wire.done == [HEAD]
    joining.write(b"{}")
    assert wire.done == [HEAD, b"{}"]


async def test_a_head_without_a_body_goes_before_the_end() -> None:
    joining, wire = joined()
    joining.write(HEAD)
    joining.close()
    joining.write(HEAD)
    joining.write_eof()
    assert wire.done == [HEAD, "close", HEAD, "eof"]


async def test_all_else_is_the_transport_itself() -> None:
    joining, _ = joined()
    assert joining.is_closing() is False
