"""Jobs in every store: names, versions, and rules that are asked under the lock."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.world import PLACE, World
from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound
from waterclock.domain.job import Job, JobFacts, JobSpec
from waterclock.stores.ops.jobs import delete_job, get_job, get_jobs, list_jobs, update_job


def allow(_facts: JobFacts) -> None:
    pass


def refuse(_facts: JobFacts) -> None:
    raise NotAllowed("not today")


def to_python(job: Job) -> tuple[JobSpec, Mapping[str, object]]:
    return JobSpec(kind="python"), {**job.definition, "Command": "python"}


async def test_a_job_is_read_back_as_it_was_written(world: World) -> None:
    made = await world.job("etl", retries=3, labels=("big", "gpu"), default_arguments={"--a": "물 💧"})
    assert await world.database.read(get_job, **PLACE, name="etl") == made


async def test_a_job_that_is_not_there_is_none(world: World) -> None:
    assert await world.database.read(get_job, **PLACE, name="etl") is None


async def test_a_second_job_of_the_same_name_is_refused(world: World) -> None:
    await world.job("etl")
    with pytest.raises(AlreadyExists, match="'etl'"):
        await world.job("etl")


async def test_of_two_creators_at_once_one_is_told_that_the_name_is_taken(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(2)]
    for round_ in range(10):
        made = await asyncio.gather(*(each.job(f"etl {round_}") for each in worlds), return_exceptions=True)
        assert [type(each) for each in made if isinstance(each, Exception)] == [AlreadyExists]


async def test_names_that_differ_in_case_accents_spaces_or_emoji_are_different(world: World) -> None:
    names = ["etl", "ETL", "étl", "etl ", "💧", "💦", "물시계", "straße", "strasse"]
    for name in names:
        await world.job(name)
    found = await world.database.read(get_jobs, **PLACE, names=[*names, "Etl"])
    assert sorted(found) == sorted(names)


async def test_the_same_name_serves_in_another_namespace_and_organisation(world: World) -> None:
    await world.job("etl")
    for org_id, namespace in ((1, "lake"), (2, "glue")):
        assert await world.database.read(get_job, org_id=org_id, namespace=namespace, name="etl") is None


async def test_jobs_are_listed_by_name_a_page_at_a_time(world: World) -> None:
    for name in ("b", "a", "d", "c"):
        await world.job(name)
    page: dict[str, Any] = {"org_id": 1, "namespaces": ["glue"], "limit": 3}
    first = await world.database.read(list_jobs, **page, after="")
    assert [job.name for job in first] == ["a", "b", "c"]
    rest = await world.database.read(list_jobs, **page, after="c", after_id=first[-1].id)
    assert [job.name for job in rest] == ["d"]


async def test_no_names_find_no_jobs(world: World) -> None:
    await world.job("etl")
    assert await world.database.read(get_jobs, **PLACE, names=[]) == {}


async def test_an_update_is_a_new_version_and_old_runs_keep_theirs(world: World) -> None:
    await world.job("etl")
    (started,) = await world.start("etl")
    updated = await world.database.write(update_job, **PLACE, name="etl", by="bob", revise=to_python, allow=allow)
    assert (updated.version, updated.spec.kind, updated.definition["Command"]) == (2, "python", "python")
    (claimed,) = await world.claim()
    assert (claimed.attempt.wire_id, claimed.attempt.job_version, claimed.spec.kind) == (started.wire_id, 1, "shell")


@pytest.mark.parametrize(("cap", "started"), [(2, 2), (10, 4), (0, 4), (1, 1)])
async def test_a_higher_cap_starts_those_that_wait_at_once(world: World, cap: int, started: int) -> None:
    await world.job(max_concurrent=1, queueing=True)
    await world.start(count=4)
    spec = JobSpec(kind="shell", max_concurrent=cap, queueing=True)
    await world.database.write(update_job, **PLACE, name="job", by="ann", revise=lambda _: (spec, {}), allow=allow)
    assert len(await world.claim()) == started


async def test_a_refused_update_changes_nothing(world: World) -> None:
    made = await world.job("etl")
    with pytest.raises(NotAllowed):
        await world.database.write(update_job, **PLACE, name="etl", by="bob", revise=to_python, allow=refuse)
    assert await world.database.read(get_job, **PLACE, name="etl") == made


async def test_updates_at_once_each_see_the_one_before(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(2)]
    await worlds[0].job("etl")

    def count_up(job: Job) -> tuple[JobSpec, Mapping[str, object]]:
        return job.spec, {"n": int(str(job.definition.get("n", 0))) + 1}

    change: dict[str, Any] = {**PLACE, "name": "etl", "by": "bob", "revise": count_up, "allow": allow}
    await asyncio.gather(*(each.database.write(update_job, **change) for each in worlds * 5))
    job = await worlds[0].database.read(get_job, **PLACE, name="etl")
    assert job is not None
    assert (job.version, job.definition) == (11, {"n": 10})


async def test_the_rules_are_told_of_triggers_and_live_runs(world: World) -> None:
    await world.job("etl")
    await world.trigger("on", "etl")
    await world.trigger("off", "etl", start=False)
    await world.start("etl", 2)
    seen: list[JobFacts] = []
    await world.database.write(delete_job, **PLACE, name="etl", allow=seen.append)
    assert (seen[0].triggers, seen[0].running_triggers, seen[0].live_runs) == (("off", "on"), ("on",), 2)


async def test_runs_of_a_deleted_job_still_have_their_version(world: World) -> None:
    await world.job("etl")
    (started,) = await world.start("etl")
    await world.database.write(delete_job, **PLACE, name="etl", allow=allow)
    (claimed,) = await world.claim()
    assert (claimed.attempt.job_name, claimed.spec.kind) == ("etl", "shell")
    await world.begin(claimed.attempt)
    await world.end(claimed.attempt)
    assert (await world.attempt(started.wire_id)).state == "SUCCEEDED"


async def test_the_runs_that_wait_for_a_slot_of_a_deleted_job_go_on_one_by_one(world: World) -> None:
    await world.job("etl", max_concurrent=1, queueing=True)
    await world.start("etl", 3)
    await world.database.write(delete_job, **PLACE, name="etl", allow=allow)
    for _ in range(3):
        await world.run_one()
    assert await world.states() == ["SUCCEEDED"] * 3


async def test_updating_or_deleting_what_is_not_there_says_so(world: World) -> None:
    with pytest.raises(NotFound, match="'etl'"):
        await world.database.write(update_job, **PLACE, name="etl", by="bob", revise=to_python, allow=allow)
    with pytest.raises(NotFound, match="'etl'"):
        await world.database.write(delete_job, **PLACE, name="etl", allow=allow)


async def test_no_run_starts_beside_the_deletion_of_its_job(shared: Store) -> None:
    """Whichever comes first: a job with a live run is kept, or a start finds no job."""
    worlds = [World(database) for database in await shared.open_many(2)]

    def only_idle(facts: JobFacts) -> None:
        if facts.live_runs:
            raise NotAllowed("live")

    for round_ in range(10):
        await worlds[0].job(name := f"etl {round_}", max_concurrent=round_ % 2)
        deleted, started = await asyncio.gather(
            worlds[0].database.write(delete_job, **PLACE, name=name, allow=only_idle),
            worlds[1].start(name),
            return_exceptions=True,
        )
        assert isinstance(deleted, NotAllowed) is not isinstance(started, NotFound)
