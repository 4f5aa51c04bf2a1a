"""The duties of a program that schedules its own callables: they leave alone what is a server's."""

from collections.abc import AsyncIterator

import pytest

from tests.stores.programming import Program
from tests.stores.world import World
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.engine.rescuer import Rescuer
from waterclock.engine.ticker import Ticker
from waterclock.stores import database_from_url
from waterclock.stores.ops.firing import Fired


@pytest.fixture
async def program() -> AsyncIterator[Program]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield await Program.on(database)
    await database.close()


async def test_a_programs_ticker_fires_what_is_its_own_and_tells_of_it(program: Program) -> None:
    server, told = World(program.database), list[Fired]()
    await server.job()
    await server.trigger()
    await program.add(program.until_now(since=1))
    program.pass_time(60)
    ticker = Ticker(program.database, {NAMESPACE: RULES}, fired=told.append, ticker=NAMESPACE)
    await ticker.tick()
    assert [(fired.runs, fired.exhausted, len(fired.skipped)) for fired in told] == [(2, ("job",), 0)]
    assert await server.attempts() == []
    await Ticker(program.database, {}).tick()
    assert len(await server.attempts()) == 1


async def test_a_programs_rescuer_leaves_a_servers_lost_runs_to_the_server(program: Program) -> None:
    server = World(program.database)
    await server.job()
    await server.start()
    await server.claim_one()
    await program.add(program.job())
    await program.fire()
    await program.claim()
    program.pass_time(600)
    await Rescuer(program.database, margin_seconds=5, every_seconds=1, namespace=NAMESPACE).tick()
    assert await server.states() == ["STARTING"]
    (stored,) = await program.jobs()
    assert await program.states(stored) == ["FAILED"]
