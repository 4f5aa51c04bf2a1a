"""Processes on one socket: who takes the next connection, and what they tell each other."""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Iterator

import pytest

from waterclock.faces.http import accepting
from waterclock.faces.http.accepting import Accepting
from waterclock.faces.http.metrics import Metrics
from waterclock.faces.http.siblings import NUMBER, PAGE_FD, Siblings, mark_gone, new_page

DEADLINE_SECONDS = 20


@pytest.fixture
def page() -> Iterator[int]:
    fd = new_page(2)
    yield fd
    os.close(fd)


def test_one_that_has_more_connections_than_another_is_the_busiest(page: int) -> None:
    one, other = Siblings(page, 0), Siblings(page, 1)
    assert not one.is_busiest
    one.connections = 2
    assert (one.is_busiest, other.is_busiest) == (True, False)
    other.connections = 3
    assert (one.is_busiest, other.is_busiest) == (False, True)


def test_one_that_is_gone_takes_no_connections_and_drains_nobody(page: int) -> None:
    one, other = Siblings(page, 0), Siblings(page, 1)
    one.connections = 2
    other.drain(True)
    assert (one.is_busiest, one.is_draining) == (True, True)
    mark_gone(page, 1)
    assert (one.is_busiest, one.is_draining) == (False, False)


def test_where_one_drains_all_do(page: int) -> None:
    one, other = Siblings(page, 0), Siblings(page, 1)
    one.drain(True)
    assert (one.is_draining, other.is_draining) == (True, True)
    one.drain(False)
    assert (one.is_draining, other.is_draining) == (False, False)


def test_numbers_are_added_up_and_go_on_after_a_restart(page: int) -> None:
    one, other = Metrics(Siblings(page, 0)), Metrics(Siblings(page, 1))
    one.requests["glue", "GetJob", 200] += 3
    other.requests["glue", "GetJob", 200] += 4
    other.requests["api", "", 404] += 1
    other.tell()
    series = 'waterclock_http_requests_total{face="glue",action="GetJob",status="200"} 7'
    assert series in one.text(None)
    mark_gone(page, 1)
    again = Metrics(Siblings(page, 1))
    assert again.requests == Counter({("glue", "GetJob", 200): 4, ("api", "", 404): 1})
    assert series in again.text(None), "the scrape of one has told its numbers to the other"


def test_more_numbers_than_there_is_room_for_leave_what_stands(page: int) -> None:
    one, other = Siblings(page, 0), Siblings(page, 1)
    other.tell(Counter({("glue", "GetJob", 200): 1}))
    other.tell(Counter({("glue", "x" * 50 + str(number), 200): 1 for number in range(10_000)}))
    assert one.told_by_others() == {("glue", "GetJob", 200): 1}


def test_a_child_finds_its_page_and_one_without_a_parent_is_alone(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Siblings.inherited().is_alone
    other = Siblings(page, 0)
    monkeypatch.setenv(PAGE_FD, str(os.dup(page)))
    monkeypatch.setenv(NUMBER, "1")
    found = Siblings.inherited()
    found.connections = 5
    other.connections = 6
    assert (found.is_alone, other.is_busiest, PAGE_FD in os.environ) == (False, True, False)


class Process:
    """What one of several would be, in this one."""

    def __init__(self, listening: socket.socket, page: int, number: int) -> None:
        self.siblings = Siblings(page, number)
        self.protocols: list[asyncio.Protocol] = []
        mine = listening.dup()
        self.accepting = Accepting(mine, self._protocol, self.siblings, lambda: len(self.protocols))
        self._listening = mine

    def _protocol(self) -> asyncio.Protocol:
        self.protocols.append(asyncio.Protocol())
        return self.protocols[-1]

    def stop(self) -> None:
        self.accepting.stop()
        self._listening.close()


async def until_taken(processes: list[Process], count: int) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while sum(len(each.protocols) for each in processes) < count:
            await asyncio.sleep(0)


async def test_connections_are_spread_over_those_that_listen(page: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        processes = [Process(listening, page, number) for number in range(2)]
        for each in processes:
            each.accepting.start()
        callers = [socket.create_connection(listening.getsockname()) for _ in range(8)]
        await until_taken(processes, 8)
        assert min(len(each.protocols) for each in processes) >= 3
        for each in processes:
            each.stop()
        for caller in callers:
            caller.close()


async def test_what_another_does_not_take_in_time_is_taken_all_the_same(page: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        process, paused = Process(listening, page, 0), Siblings(page, 1)
        assert (paused.connections, process.siblings.is_busiest) == (0, False)
        process.accepting.start()
        callers = [socket.create_connection(listening.getsockname()) for _ in range(3)]
        await until_taken([process], 3)
        process.stop()
        for caller in callers:
            caller.close()


async def test_where_no_file_can_be_opened_it_is_tried_again(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(socket.socket):
        refusals = 2

        def accept(self) -> tuple[socket.socket, object]:
            if Full.refusals:
                Full.refusals -= 1
                raise OSError(24, "Too many open files")
            return super().accept()

    monkeypatch.setattr(accepting, "NO_ROOM_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listening, Full(fileno=os.dup(listening.fileno())) as full:
        process = Process(listening, page, 0)
        mark_gone(page, 1)
        process.accepting._listening = full
        process.accepting.start()
        with socket.create_connection(listening.getsockname()):
            await until_taken([process], 1)
        process.stop()
    assert Full.refusals == 0
