"""A node that drains: it takes nothing more, finishes what runs, says so, and takes again when it is resumed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.engine.conftest import Host
from waterclock.app.api_node import joined
from waterclock.domain.run import RunState
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.lateness import Lateness
from waterclock.engine.membership import StoreMembership
from waterclock.engine.node import Node
from waterclock.engine.ticker import Ticker
from waterclock.faces.http.siblings import Siblings
from waterclock.settings import Settings
from waterclock.stores.base import Database, Topic
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import nodes
from waterclock.stores.ops.nodes import Node as NodeRecord

PATIENCE_SECONDS = 20.0
RECORD = NodeRecord(id="node-one", host="host-one", name="one", duties=("scheduler", "worker"), version="1", pid=1)


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def host(database: Database, tmp_path: Path) -> AsyncIterator[Host]:
    """Scheduler and worker of one process, with loops that run by themselves."""
    host = Host(database, tmp_path)
    membership = StoreMembership(database)
    node = Node(membership, RECORD.id)
    node.lateness = Lateness()
    node.add_worker(host.attempts, [host.dispatcher])
    node.add(Ticker(database, {}, lateness=node.lateness), Topic.TRIGGERS, takes_on=True)
    heartbeat = Heartbeat(membership, RECORD, every_seconds=60, body=node)
    node.add(heartbeat, Topic.NODES)
    await heartbeat.tick()
    await node.start()
    yield host
    await node.stop()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():
            await asyncio.sleep(0.01)


async def seen(database: Database) -> NodeRecord:
    (node,) = await database.read(nodes.list_nodes, within_seconds=3_600)
    return node


async def test_a_node_that_drains_finishes_what_runs_and_takes_nothing_more(host: Host, database: Database) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def endless() -> None:
        began.set()
        await go.wait()

    host.functions["endless"] = endless
    await host.job("job", "endless", max_concurrent=0)
    first = await host.start("job")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await began.wait()
    assert await database.write(nodes.drain_node, node_id=RECORD.id)  # the wake-up is heard at once

    async def is_told() -> bool:
        return (await seen(database)).running == 1

    await until(is_told)
    await host.trigger("every second", "* * * * * ?", "job")
    second = await host.start("job")
    host.database.offset_us += 2_000_000  # the trigger is due
    go.set()

    async def is_drained() -> bool:
        return (await seen(database)).drained_at is not None

    await until(is_drained)
    assert (await host.attempt(first)).state is RunState.SUCCEEDED
    assert [(each.wire_id, each.state) for each in await host.attempts_listed()] == [
        (second, RunState.STARTING),
        (first, RunState.SUCCEEDED),
    ]
    await database.write(nodes.resume_node, node_id=RECORD.id)

    async def is_done() -> bool:
        listed = await host.attempts_listed()
        return len(listed) > 2 and (await host.attempt(second)).state is RunState.SUCCEEDED

    await until(is_done)
    assert (await seen(database)).drained_at is None


async def test_the_heartbeat_says_how_late_the_fires_were(host: Host, database: Database) -> None:
    await host.job("job", "good")
    await host.trigger("every second", "* * * * * ?", "job")
    host.database.offset_us += 5_000_000

    async def is_late() -> bool:
        await database.write(nodes.resume_node, node_id=RECORD.id)  # wakes the heart
        return (await seen(database)).late_most_us >= 3_000_000

    await until(is_late)
    node = await seen(database)
    assert node.late_median_us <= node.late_us <= node.late_most_us


async def test_an_api_process_is_a_node_and_hears_of_its_drain(database: Database, tmp_path: Path) -> None:
    siblings = Siblings()
    async with joined(Settings(data_dir=tmp_path, heartbeat_seconds=60), database, siblings):

        async def is_there() -> bool:
            return bool(await database.read(nodes.list_nodes, within_seconds=60))

        await until(is_there)
        me = await seen(database)
        assert (me.duties, me.slots) == (("api",), 0)
        await database.write(nodes.drain_node, node_id=me.id)

        async def is_drained() -> bool:
            return siblings.is_draining and (await seen(database)).drained_at is not None

        await until(is_drained)
        await database.write(nodes.resume_node, node_id=me.id)

        async def is_back() -> bool:
            return not siblings.is_draining

        await until(is_back)
    assert await database.read(nodes.list_nodes, within_seconds=60) == []
