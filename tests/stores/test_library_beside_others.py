"""Jobs of the library in a store that others use, too: a server, another program; and what is pruned of them."""

import asyncio

import pytest

from tests.stores.programming import IMPATIENT, Program
from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.stores.ops import pruning
from waterclock.stores.ops.access import create_organisation
from waterclock.stores.ops.claiming import rescue
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.library import add_library_jobs, has_server, library_jobs

DAY = 86_400


@pytest.fixture
async def program(shared: Store) -> Program:
    return await Program.on(await shared.open())


async def versions(shared: Store) -> int:
    (counted,) = await shared.rows("SELECT COUNT(*) AS n FROM job_versions")
    return int(counted["n"])


async def test_a_server_fires_nothing_of_a_program_and_a_program_nothing_of_a_server(program: Program) -> None:
    server = World(program.database)
    await server.job()
    await server.trigger()
    await program.add(program.job())
    program.pass_time(60)
    of_server = await server.fire()
    assert (of_server.triggers, of_server.next_due_at) == (1, program.due + 120_000_000)
    assert [attempt.namespace for attempt in await server.attempts()] == ["glue"]
    assert (await program.fire()).triggers == 1
    assert [claimed.attempt.namespace for claimed in await program.claim()] == [NAMESPACE]


async def test_programs_of_two_namespaces_have_nothing_in_common(program: Program) -> None:
    other = "lib:0123456789ab"
    await program.add(program.job())
    await program.database.write(add_library_jobs, namespace=other, jobs=[program.until_now()])
    assert (await program.fire()).exhausted == ()
    fired = await program.database.write(fire_due, limit=10, rules={other: RULES}, ticker=other)
    assert (fired.triggers, fired.exhausted) == (1, ("job",))
    assert await program.names() == ["job"]
    assert await program.database.read(library_jobs, namespace=other) == []


async def test_what_two_programs_add_at_once_is_there_once(program: Program, shared: Store) -> None:
    """Each start of each process says so again: none of them may fail."""
    jobs = [program.job(f"job {number}") for number in range(20)]
    others = [Program(await shared.open(), program.due) for _ in range(2)]
    names = tuple(job.name for job in jobs)
    added = await asyncio.gather(
        program.add(*jobs, replace=names), *(other.add(*reversed(jobs), replace=names) for other in others)
    )
    ids = {stored.job.name: stored.id for stored in await program.jobs()}
    assert sorted(ids) == sorted(names)
    assert all({stored.job.name: stored.id for stored in each} == ids for each in added)


async def test_a_program_decides_only_its_own_lost_runs(program: Program) -> None:
    server = World(program.database)
    await server.job()
    await server.start()
    theirs = await server.claim_one()
    await program.add(program.job())
    await program.fire()
    (ours,) = await program.claim()
    program.pass_time(120)
    lost = await program.database.write(rescue, margin_seconds=5, limit=10, namespace=NAMESPACE)
    assert lost == {ours.attempt.id}
    assert await program.database.write(rescue, margin_seconds=5, limit=10) == {theirs.id}


async def test_a_store_has_a_server_once_it_has_an_organisation(program: Program) -> None:
    assert not await program.database.read(has_server)
    await program.database.write(create_organisation, account="123456789012", name="first")
    assert await program.database.read(has_server)


async def test_what_a_job_ran_is_forgotten_when_it_is_gone_and_its_last_run_is_pruned(
    program: Program, shared: Store
) -> None:
    await program.add(program.until_now(name="over"), program.job("stays"))
    await program.fire()
    await program.run_all()
    program.pass_time(2 * DAY)
    await program.fire()
    await program.run_all()
    assert await versions(shared) == 2
    assert (await program.database.write(pruning.prune_runs, keep_seconds=DAY)).runs == 2
    assert await versions(shared) == 1
    program.pass_time(60)
    await program.fire()
    assert [claimed.attempt.job_name for claimed in await program.claim()] == ["stays"]


async def test_the_versions_of_a_job_that_never_ran_go_with_it(program: Program, shared: Store) -> None:
    _, stored, _ = await program.add(
        program.job("removed"), program.job("running"), program.until_now(name="missed", misfire=IMPATIENT)
    )
    await program.change_spec("removed", retries=1)
    await program.change("removed", next_fire_at=None)
    assert await versions(shared) == 4
    assert (await program.fire()).exhausted == ("missed",)
    assert await versions(shared) == 3
    assert await program.remove() == ["removed", "running"]
    assert await versions(shared) == 1
    assert [claimed.spec for claimed in await program.claim()] == [stored.job.spec]
