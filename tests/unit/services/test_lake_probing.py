"""A source that is asked: whoever waits is answered, whatever becomes of the run that asks it."""

from collections.abc import AsyncIterator

import pytest

from tests.stores.world import World
from waterclock import __version__
from waterclock.domain.access import Caller, Role
from waterclock.domain.errors import CannotRun
from waterclock.domain.lake_probe import NAMESPACE, Action, Probe, probe_of
from waterclock.domain.lake_sync import LakeSource, SourceKind
from waterclock.domain.quota import EVERYBODY, QuotaKind
from waterclock.domain.rules import GUARDED
from waterclock.domain.run import ENDED, LIVE, Attempt, RunState
from waterclock.services.jobs import Jobs
from waterclock.services.lake_probing import Probing
from waterclock.services.runs import Runs
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import access, nodes, quotas, reading

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")
SOURCE = LakeSource(
    id=3,
    org_id=1,
    name="shop",
    kind=SourceKind.REST,
    owner="ann",
    creator="ann",
    config={"base_url": "https://shop", "headers": {"X-Key": "{{secret:b}}"}, "auth": {"token": "{{secret:a}}"}},
    created_at=0,
    updated_at=0,
)
TEST = Probe(action=Action.TEST, source_id=3)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield World(database)
    await database.close()


async def beat(world: World, *queues: str) -> None:
    node = nodes.Node(
        id="n", host="n", name="n", duties=(nodes.WORKER,), slots=1, queues=queues, version=__version__, pid=1
    )
    await world.database.write(nodes.beat, node=node, wall_us=0)


async def probes(world: World) -> list[Attempt]:
    states, before = tuple(LIVE | ENDED), reading.FROM_THE_NEWEST
    return await world.database.read(
        reading.list_attempts, org_id=1, namespaces=[NAMESPACE], states=states, before=before, limit=10
    )


def probing(world: World, seconds: float) -> Probing:
    return Probing(world.database, Runs(world.database, Jobs(world.database, GUARDED)), patience_seconds=seconds)


async def test_who_could_never_take_it_is_not_waited_for(world: World) -> None:
    with pytest.raises(CannotRun, match="no worker is alive: start one"):
        await probing(world, 60).answer(ANN, SOURCE, TEST)
    await beat(world, "lake")
    with pytest.raises(CannotRun, match="no live worker serves queue default"):
        await probing(world, 60).answer(ANN, SOURCE, TEST)
    assert await probes(world) == []


async def test_a_probe_that_nobody_answers_in_time_is_stopped(world: World) -> None:
    await beat(world, "default")
    made = await world.database.write(access.create_organisation, account="123456789012", name="ours")
    assert made.id == ANN.org_id
    await world.database.write(quotas.set_quota, org_id=made.id, user=EVERYBODY, kind=QuotaKind.JOBS, most=0)
    for _ in range(2):  # with the same job
        with pytest.raises(CannotRun, match=r"'shop' has not answered within 0 s: no worker has taken the probe"):
            await probing(world, 0).answer(ANN, SOURCE, TEST)
    stopped = await probes(world)
    assert [each.state for each in stopped] == [RunState.STOPPED] * 2
    asked = stopped[0].arguments
    assert probe_of(asked) == TEST
    assert asked["--secrets"] == "{{secret:a}} {{secret:b}}"


def test_what_is_no_question_cannot_be_run() -> None:
    for arguments in ({}, {"--action": "drop", "--source": "1"}, {"--action": "test", "--source": "x"}):
        with pytest.raises(CannotRun, match="is no probe of a source"):
            probe_of(arguments)
    with pytest.raises(CannotRun, match="must be an object"):
        probe_of({"--action": "test", "--source": "1", "--what": "[]"})
