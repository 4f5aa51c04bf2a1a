"""A cluster that lives by a moving clock, and its triggers as the API makes them."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import World
from tests.chaos.tools.moving_clock import MovingClock
from waterclock.chaos.evidence import program
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.triggers import stop_trigger

FOR_EVER_DAYS = 100_000  # nothing is pruned while years go by


@contextmanager
def moving_cluster(
    world: World, clock: MovingClock, *, schedulers: int, workers: int, **settings: Any
) -> Iterator[Cluster]:
    with cluster(world, schedulers=0, workers=0, keep_days=FOR_EVER_DAYS, **settings) as made:
        made.apis[0].stop()
        rest = [*(made.add("scheduler") for _ in range(schedulers)), *(made.add("worker") for _ in range(workers))]
        for process in (*made.apis, *rest):
            process.extra = clock.environment
            process.start(wait=False)
        for process in (*made.apis, *rest):
            process.await_ready()
        yield made


def define(made: Cluster, api: httpx.Client, work: str, trigger: Mapping[str, Any], **job: Any) -> None:
    """A job that leaves its marks, and a trigger that is set going."""
    script = made.world.folder / "scripts" / f"{work}.py"
    script.write_text(program(work, made.evidence))
    asked = {"name": work, "kind": "python", "script": f"file://{script}", "max_concurrent": 0, **job}
    api.post("/jobs", json=asked).raise_for_status()
    actions = [{"job": work}]
    api.post("/triggers", json={"name": work, "start": True, "actions": actions, **trigger}).raise_for_status()


def caught_up(made: Cluster, clock: MovingClock) -> None:
    """Nothing is due any more, and all that was fired has ended."""
    due = "SELECT name FROM triggers WHERE state = 'RUNNING' AND next_fire_at <= {now}"
    until(lambda: not made.ask(due.format(now=clock.now())), "the triggers do not catch up", pause=0.1)
    made.quiet()


def stop_all(made: Cluster, clock: MovingClock) -> None:
    """Every trigger, by the moved clock; what runs goes on."""
    names = [row["name"] for row in made.ask("SELECT name FROM triggers WHERE state = 'RUNNING'")]

    async def stop() -> None:
        database = database_from_url(made.url)
        await database.open()
        database.offset_us = clock.offset_us
        try:
            for name in names:
                await database.write(
                    stop_trigger, org_id=1, namespace="api", name=name, allow=lambda _: None, stop_runs=False
                )
        finally:
            await database.close()

    asyncio.run(stop())
