"""Logs are read alike from this host's disk and from the log store; one on another host's disk says where it lies."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from waterclock.domain.access import Caller, Role
from waterclock.domain.claim import Claimant
from waterclock.domain.errors import Forbidden, InvalidInput, LogElsewhere, NotAllowed, NotFound
from waterclock.domain.job import JobSpec
from waterclock.domain.log_name import log_name
from waterclock.domain.moment import SECOND
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.rules import GUARDED
from waterclock.domain.run import Attempt, RunState
from waterclock.engine.work import StoreWork
from waterclock.runners.log_store import FileLogStore
from waterclock.services import logs as service
from waterclock.services.jobs import Jobs
from waterclock.services.logs import LogPage, Logs
from waterclock.services.runs import Runs
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.shipping import ACCEPTED_SECONDS, Shipping
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import jobs, reading
from waterclock.stores.ops.nodes import Node, beat
from waterclock.stores.ops.starting import RunRequest, start_runs

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")
HTTP = Caller(user="w", org_id=1, account="", role=Role.WORKER, address="", request_id="")
PLACE: dict[str, Any] = {"org_id": 1, "namespace": "glue"}
HERE, THERE = "host-here", "host-there"


class Desk:
    """Runs that a worker by hand begins and ends, and the services that show them on the host HERE."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.root = folder / "logs"
        self.store = FileLogStore(folder / "store")
        self.secrets = Secrets(database, SecretBox(folder / "keys"))
        runs = Runs(database, Jobs(database, GUARDED))
        self.logs = Logs(database, runs, self.root, self.secrets, store=self.store, host=HERE)
        self.shipping = Shipping(database, self.store, cap_bytes=1000)
        self._work = StoreWork(database)

    async def begin(self, *, host: str = THERE, path: str | None = None, **arguments: str) -> Attempt:
        """With that path; else its log is in the store."""
        request = RunRequest(job_name="job", arguments={f"--{key}": value for key, value in arguments.items()})
        await self.database.write(start_runs, **PLACE, requested_by="ann", requests=[request])
        claims = await self._work.claim(Claimant(node="node", host=host), limit=1, ttl_seconds=60)
        attempt = claims.claimed[0].attempt
        place = path or log_name(attempt.wire_id, attempt.run_at)
        beginning = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=1, log_path=place)
        await self._work.record([beginning], [])
        return await self.attempt(attempt.wire_id)

    async def end(self, attempt: Attempt) -> Attempt:
        outcome = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=RunState.SUCCEEDED)
        await self._work.record([], [outcome])
        return await self.attempt(attempt.wire_id)

    async def attempt(self, wire_id: str) -> Attempt:
        found = await self.database.read(reading.get_attempt, org_id=1, wire_id=wire_id)
        assert found is not None
        return found

    def write(self, attempt: Attempt, data: bytes) -> None:
        assert attempt.log_path is not None
        self.store.append(attempt.log_path, self.store.size(attempt.log_path), data)

    def finish(self, attempt: Attempt) -> None:
        assert attempt.log_path is not None
        self.store.finish(attempt.log_path)

    async def read(self, attempt: Attempt, limit: int = 1000) -> tuple[str, bool]:
        """All that can be read now, page by page; whether it says that no more comes."""
        text, offset = "", 0
        while True:
            page = await self.logs.read(ANN, attempt.wire_id, offset=offset, limit=limit)
            text += page.text
            if page.ended or page.next_offset == offset:
                return text, page.ended
            offset = page.next_offset


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    spec = JobSpec(kind="shell", script="file:///x", max_concurrent=0)
    await database.write(jobs.create_job, **PLACE, name="job", owner="ann", spec=spec, definition={}, tags={})
    yield Desk(database, tmp_path)
    await database.close()


async def test_a_log_in_the_store_is_read_page_by_page_while_it_grows(desk: Desk) -> None:
    attempt = await desk.begin()
    assert await desk.read(attempt) == ("", False)
    desk.write(attempt, "물시계 one\n".encode()[:-2])
    assert await desk.read(attempt, limit=4) == ("물시계 on", False)
    desk.write(attempt, b"e\n")
    assert await desk.read(attempt, limit=4) == ("물시계 one\n", False)


async def test_a_log_has_ended_once_its_run_has_and_all_of_it_is_there(desk: Desk) -> None:
    attempt = await desk.begin()
    desk.write(attempt, b"one\n")
    attempt = await desk.end(attempt)
    assert await desk.read(attempt) == ("one\n", False)
    desk.write(attempt, b"two\n")
    desk.finish(attempt)
    assert await desk.read(attempt) == ("one\ntwo\n", True)


async def test_a_log_that_nobody_finishes_is_taken_to_have_ended_after_a_while(desk: Desk) -> None:
    attempt = await desk.begin()
    desk.write(attempt, b"one\n")
    attempt = await desk.end(attempt)
    assert await desk.read(attempt) == ("one\n", False)
    desk.database.offset_us += round((service.COMPLETE_SECONDS + 1) * SECOND)
    assert await desk.read(attempt) == ("one\n", True)
    desk.write(attempt, b"late\n")
    assert await desk.read(attempt) == ("one\nlate\n", True)


async def test_secrets_are_masked_across_the_pages_of_a_log_in_the_store(desk: Desk) -> None:
    await desk.secrets.put(ANN, "warehouse", "hunter2")
    attempt = await desk.begin(url="db://{{secret:warehouse}}")
    desk.write(attempt, b"login as hunt")
    assert await desk.read(attempt) == ("login as ", False)
    desk.write(attempt, b"er2\nbye\n")
    desk.finish(await desk.end(attempt))
    for limit in (4, 10, 1000):
        assert await desk.read(attempt, limit=limit) == ("login as ***\nbye\n", True)


async def test_lines_are_read_both_ways_from_the_store(desk: Desk) -> None:
    attempt = await desk.begin()
    desk.write(attempt, b"one\ntwo\nthree\nfo")
    forward = await desk.logs.lines(attempt, offset=4, most=9)
    backward = await desk.logs.lines(attempt, offset=None, most=2, backwards=True)
    assert [line.text for line in forward.lines] == ["two\n", "three\n"] == [line.text for line in backward.lines]
    desk.finish(attempt)
    ended = await desk.logs.lines(await desk.end(attempt), offset=14, most=9)
    assert [line.text for line in ended.lines] == ["fo"]


async def test_a_follower_sees_the_log_as_it_comes_and_the_end_after_the_last_of_it(desk: Desk) -> None:
    attempt = await desk.begin()
    desk.write(attempt, b"one\n")
    seen: list[str] = []

    async def follow() -> None:
        async for each in desk.logs.follow(ANN, attempt.wire_id, offset=0):
            if isinstance(each, LogPage):
                seen.append(each.text)
            elif each.ended:
                seen.append("END")

    task = asyncio.create_task(follow())
    async with asyncio.timeout(20):
        await until(lambda: "".join(seen) == "one\n")
        await desk.end(attempt)
        desk.write(attempt, b"two\n")
        await until(lambda: "".join(seen) == "one\ntwo\n")
        desk.finish(attempt)
        await task
    assert "".join(seen) == "one\ntwo\nEND"


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


# On another host's disk


@pytest.mark.parametrize("is_inside", [True, False])
async def test_a_log_on_another_host_says_where_it_lies_and_what_to_set(desk: Desk, is_inside: bool) -> None:
    attempt = await desk.begin(path=str(desk.root / "jr.log") if is_inside else "/srv/elsewhere/jr.log")
    words = f"the log of run {attempt.wire_id} lies on the host 'host-there' .* logs.store"
    with pytest.raises(LogElsewhere, match=words):
        await desk.read(attempt)
    with pytest.raises(NotFound, match=words):
        await desk.logs.lines(attempt, offset=0, most=9)


async def test_a_host_is_told_by_the_name_of_its_last_node(desk: Desk) -> None:
    for name in ("old-name", "worker-3"):
        node = Node(id=name, host=THERE, name=name, duties=("worker",), version="1", pid=1)
        await desk.database.write(beat, node=node, wall_us=0)
        desk.database.offset_us += SECOND
    attempt = await desk.begin(path="/srv/elsewhere/jr.log")
    with pytest.raises(LogElsewhere, match="on the host 'worker-3'"):
        await desk.read(attempt)


async def test_who_follows_a_log_on_another_host_is_told_once_and_sees_the_run_to_its_end(desk: Desk) -> None:
    attempt = await desk.end(await desk.begin(path="/srv/elsewhere/jr.log"))
    seen = [each async for each in desk.logs.follow(ANN, attempt.wire_id, offset=0)]
    assert isinstance(seen[0], LogPage)
    assert "[waterclock: the log of run" in seen[0].text
    assert "'host-there'" in seen[0].text
    assert seen[-1] == attempt


async def test_a_log_in_a_folder_that_two_hosts_share_is_read(desk: Desk) -> None:
    desk.root.mkdir()
    (desk.root / "jr.log").write_text("shared\n")
    attempt = await desk.end(await desk.begin(path=str(desk.root / "jr.log")))
    assert await desk.read(attempt) == ("shared\n", True)


async def test_a_log_of_this_host_that_was_never_written_is_empty(desk: Desk) -> None:
    attempt = await desk.end(await desk.begin(host=HERE, path=str(desk.root / "jr.log")))
    assert await desk.read(attempt) == ("", True)
    outside = await desk.begin(host=HERE, path="/etc/passwd")
    with pytest.raises(InvalidInput, match="leads out of the log folder"):
        await desk.read(outside)


async def test_a_name_that_leads_out_of_the_store_is_refused(desk: Desk) -> None:
    attempt = await desk.begin(path="../keys")
    with pytest.raises(InvalidInput, match="leads out of the log store"):
        await desk.read(attempt)


# Shipped over HTTP


async def test_what_a_worker_ships_is_taken_until_its_log_is_finished(desk: Desk) -> None:
    attempt = await desk.begin()
    key = (HTTP, attempt.id, attempt.fence)
    assert await desk.shipping.ship(*key, 0, b"one\n") == 4
    assert await desk.shipping.ship(*key, 9, b"gap") == 4
    await desk.end(attempt)
    assert await desk.shipping.ship(*key, 4, b"two\n", last=True) == 8
    assert await desk.read(attempt) == ("one\ntwo\n", True)


async def test_who_may_not_write_a_log_is_refused(desk: Desk) -> None:
    attempt = await desk.begin()
    with pytest.raises(NotAllowed, match="was claimed again"):
        await desk.shipping.ship(HTTP, attempt.id, attempt.fence - 1, 0, b"x")
    with pytest.raises(NotFound):
        await desk.shipping.ship(HTTP, attempt.id + 1, attempt.fence, 0, b"x")
    with pytest.raises(Forbidden):
        await desk.shipping.ship(ANN, attempt.id, attempt.fence, 0, b"x")
    with pytest.raises(InvalidInput, match="at most 1000 bytes"):
        await desk.shipping.ship(HTTP, attempt.id, attempt.fence, 990, b"x" * 11)
    await desk.end(attempt)
    desk.database.offset_us += (ACCEPTED_SECONDS + 1) * SECOND
    with pytest.raises(NotAllowed, match="ended more than 24 hours ago"):
        await desk.shipping.ship(HTTP, attempt.id, attempt.fence, 0, b"x")
