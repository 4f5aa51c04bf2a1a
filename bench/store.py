"""What the stores can do: fire one-shot triggers, claim, begin and end their runs, in batches; one JSON line per store.

python bench/store.py [--triggers 5000] [--batch 1000] [sqlite postgres mariadb]
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.services.mariadb import MariadbServer
from tests.services.postgres import PostgresServer
from waterclock.domain.claim import Claimant
from waterclock.domain.job import JobSpec
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores import Database, database_from_url
from waterclock.stores.base import Tx
from waterclock.stores.ops.claiming import begin, claim
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.triggers import create_trigger

SOON_US = 3_600_000_000


async def measure(url: str, triggers: int, batch: int) -> dict[str, float]:
    database = database_from_url(url)
    await database.open()
    try:
        await database.migrate()
        await database.write(prepare_job)
        spans = {"create": await timed(create_triggers(database, triggers))}
        database.offset_us += 2 * SOON_US
        spans["fire"] = await timed(fire_all(database, batch))
        database.offset_us += 1_000_000
        claims: list[Beginning] = []
        spans["claim"] = await timed(claim_all(database, batch, claims))
        assert len(claims) == triggers, f"claimed {len(claims)} of {triggers}"
        spans["begin"] = await timed(begin_all(database, batch, claims))
        spans["end"] = await timed(end_all(database, batch, claims))
        spans["start_to_end"] = spans["fire"] + spans["claim"] + spans["begin"] + spans["end"]
        return {f"{name}_per_second": round(triggers / span) for name, span in spans.items()}
    finally:
        await database.close()


async def prepare_job(tx: Tx) -> None:
    spec = JobSpec(kind="callable", max_concurrent=0)
    await create_job(
        tx, org_id=1, namespace="bench", name="noop", owner="bench", spec=spec, definition={"Name": "noop"}, tags={}
    )


async def create_triggers(database: Database, count: int) -> None:
    at = time.time_ns() // 1_000 + SOON_US
    for first in range(0, count, 500):
        await database.write(create_some, range(first, min(first + 500, count)), at)


async def create_some(tx: Tx, numbers: range, at: int) -> None:
    action = Action(target=Target.JOB, name="noop")
    for number in numbers:
        await create_trigger(
            tx,
            org_id=1,
            namespace="bench",
            name=f"once {number}",
            owner="bench",
            spec=TriggerSpec(
                type=TriggerType.SCHEDULED,
                actions=(action,),
                schedule={"kind": "once", "at": at},
                misfire={"grace_seconds": 7_200},
            ),
            definition={},
            tags={},
            start=True,
        )


async def fire_all(database: Database, batch: int) -> None:
    while (await database.write(fire_due, limit=batch, rules={})).triggers:
        pass


async def claim_all(database: Database, batch: int, claims: list[Beginning]) -> None:
    me = Claimant(node="n" * 36, host="h" * 36)
    while found := (await database.write(claim, claimant=me, limit=batch, ttl_seconds=60)).claimed:
        claims += [Beginning(attempt_id=each.attempt.id, fence=each.attempt.fence, pid=4711) for each in found]


async def begin_all(database: Database, batch: int, claims: list[Beginning]) -> None:
    for first in range(0, len(claims), batch):
        await database.write(begin, claims[first : first + batch])


async def end_all(database: Database, batch: int, claims: list[Beginning]) -> None:
    for first in range(0, len(claims), batch):
        outcomes = [
            Outcome(attempt_id=each.attempt_id, fence=each.fence, state=RunState.SUCCEEDED, exit_code=0)
            for each in claims[first : first + batch]
        ]
        assert len(await database.write(end_attempts, outcomes)) == len(outcomes)


async def timed(work: object) -> float:
    since = time.perf_counter()
    await work  # type: ignore[misc]
    return time.perf_counter() - since


@contextmanager
def url_of(store: str, fsync: bool) -> Iterator[str]:
    match store:
        case "sqlite":
            with tempfile.TemporaryDirectory() as folder:
                yield f"sqlite:///{folder}/wc.db"
        case "postgres":
            with PostgresServer(fsync=fsync) as postgres:
                yield postgres.url
        case "mariadb":
            with MariadbServer(fsync=fsync) as mariadb:
                yield mariadb.url
        case url:
            yield url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="*", default=["sqlite", "postgres", "mariadb"])
    parser.add_argument("--triggers", type=int, default=5_000)
    parser.add_argument("--batch", type=int, default=1_000)
    parser.add_argument("--no-fsync", action="store_true")
    given = parser.parse_args()
    for store in given.stores:
        with url_of(store, not given.no_fsync) as url:
            figures = asyncio.run(measure(url, given.triggers, given.batch))
        line = {"bench": "store", "store": store, "triggers": given.triggers, "batch": given.batch, **figures}
        print(json.dumps({**line, "cores": os.cpu_count()}), flush=True)


if __name__ == "__main__":
    main()
