"""Lists of jobs and triggers, a page at a time: each once, in order, and a page costs what is on it."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import pytest

from tests.stores.world import World
from waterclock.domain.job import JobSpec
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores.ops.jobs import create_job, list_jobs
from waterclock.stores.ops.triggers import create_trigger, list_triggers
from waterclock.stores.postgres.compiling import compiled

NAMESPACES = ("api", "glue", "lake")
MANY = 3_000
PAGE = 20


async def test_jobs_of_several_namespaces_are_listed_once_in_the_order_of_names(world: World) -> None:
    made = [
        await world.database.write(create_job, **_place(namespace), name=name, spec=JobSpec(kind="shell"))
        for namespace in NAMESPACES
        for name in ("b", "a", "c")
    ]
    assert await _walked(_jobs_of(world)) == sorted((job.name, job.id) for job in made)


async def test_triggers_of_several_namespaces_are_listed_once_in_the_order_of_names(world: World) -> None:
    spec = TriggerSpec(type=TriggerType.ON_DEMAND, actions=(Action(target=Target.JOB, name="a"),))
    made = []
    for namespace in NAMESPACES:
        await world.database.write(create_job, **_place(namespace), name="a", spec=JobSpec(kind="shell"))
        for name in ("b", "a", "c"):
            place = _place(namespace)
            made.append(await world.database.write(create_trigger, **place, name=name, spec=spec, start=False))
    assert await _walked(_triggers_of(world)) == sorted((trigger.name, trigger.id) for trigger in made)


@pytest.mark.parametrize("statement", ["jobs_of_org", "triggers_of_org"])
async def test_a_page_reads_no_more_rows_than_it_shows_on_postgresql(migrated_postgres: str, statement: str) -> None:
    connection = await asyncpg.connect(migrated_postgres)
    transaction = connection.transaction()
    await transaction.start()
    try:
        await _many(connection)
        given = {"org_id": 7, "namespaces": list(NAMESPACES), "after": "n1", "after_id": 0, "limit": PAGE}
        asked = compiled(statement)
        explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {asked.sql}"
        found = json.loads(await connection.fetchval(explain, *(given[name] for name in asked.names)))
        assert _most_rows(found[0]["Plan"]) <= PAGE * len(NAMESPACES)
    finally:
        await transaction.rollback()
        await connection.close()


def _place(namespace: str) -> dict[str, Any]:
    return {"org_id": 1, "namespace": namespace, "owner": "ann", "definition": {}, "tags": {}}


def _jobs_of(world: World) -> Callable[..., Awaitable[Sequence[Any]]]:
    async def page(**after: Any) -> Sequence[Any]:
        return await world.database.read(list_jobs, org_id=1, namespaces=NAMESPACES, limit=2, **after)

    return page


def _triggers_of(world: World) -> Callable[..., Awaitable[Sequence[Any]]]:
    async def page(**after: Any) -> Sequence[Any]:
        asked: dict[str, Any] = {"org_id": 1, "namespaces": NAMESPACES, "job_name": None, "limit": 2}
        return await world.database.read(list_triggers, **asked, **after)

    return page


async def _walked(page: Callable[..., Awaitable[Sequence[Any]]]) -> list[tuple[str, int]]:
    seen: list[tuple[str, int]] = []
    while found := await page(after=seen[-1][0] if seen else "", after_id=seen[-1][1] if seen else 0):
        seen += [(each.name, each.id) for each in found]
    return seen


async def _many(connection: Any) -> None:
    """Of an organisation of its own; gone with the transaction."""
    numbers = f"generate_series(1, {MANY}) n"
    await connection.execute(
        "INSERT INTO jobs (id, org_id, namespace, name, owner, kind, version, tags, created_at, updated_at)"
        f" SELECT 900000 + n, 7, 'glue', 'n' || n, 'ann', 'shell', 1, '{{}}', 0, 0 FROM {numbers}"
    )
    await connection.execute(
        "INSERT INTO job_versions (job_id, version, org_id, spec, definition, created_by, created_at)"
        f" SELECT 900000 + n, 1, 7, '{{}}', '{{}}', 'ann', 0 FROM {numbers}"
    )
    await connection.execute(
        "INSERT INTO triggers (id, org_id, namespace, name, owner, type, state, misfire, version, generation,"
        " definition, tags, created_at, updated_at) SELECT 900000 + n, 7, 'glue', 'n' || n, 'ann', 'ON_DEMAND',"
        f" 'STOPPED', '{{}}', 1, 1, '{{}}', '{{}}', 0, 0 FROM {numbers}"
    )
    await connection.execute("ANALYZE jobs, job_versions, triggers")


def _most_rows(plan: dict[str, Any]) -> float:
    """Of any step, with what it has read and left out."""
    own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return max([float(own), *(_most_rows(each) for each in plan.get("Plans", ()))])
