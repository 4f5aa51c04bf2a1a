"""Bare asyncpg on uvloop: the least that a durable scheduler can ask of PostgreSQL, and a call for each job.

A burst is one statement for up to 1,000 due schedules, which moves them on and writes their runs, while those of the
statement before are called. A submission is one INSERT that has been committed before the call; its end is written in
batches, beside. `notified` is a submission to a worker that waits in LISTEN and claims what it is told of.
"""

import asyncio
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
import uvloop

from bench.peers import measures
from bench.peers.marks import begins, mark

SCHEMA = """
CREATE TABLE schedules (id bigint PRIMARY KEY, next_at double precision);
CREATE INDEX ON schedules (next_at) WHERE next_at IS NOT NULL;
CREATE TABLE runs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, schedule_id bigint, state text NOT NULL);
"""
FIRE = """
WITH due AS (SELECT id FROM schedules WHERE next_at <= $1 ORDER BY next_at LIMIT 1000 FOR UPDATE SKIP LOCKED),
moved AS (UPDATE schedules SET next_at = NULL FROM due WHERE schedules.id = due.id RETURNING schedules.id)
INSERT INTO runs (schedule_id, state) SELECT id, 'RUNNING' FROM moved RETURNING id
"""
SUBMIT = "INSERT INTO runs (state) VALUES ('STARTING') RETURNING id"
SUBMIT_MANY = "INSERT INTO runs (state) SELECT 'STARTING' FROM generate_series(1, $1) RETURNING id"
NOTIFY = """
WITH made AS (INSERT INTO runs (state) VALUES ('STARTING') RETURNING id)
SELECT pg_notify('runs', id::text) FROM made
"""
CLAIM = "UPDATE runs SET state = 'RUNNING' WHERE id = $1 AND state = 'STARTING' RETURNING id"
END = "UPDATE runs SET state = 'SUCCEEDED' WHERE id = ANY($1::bigint[])"


async def burst(given: Namespace) -> Mapping[str, float]:
    connection = await _connected(given.url)
    at = measures.instant(given.count, 0.0001)
    await connection.execute("INSERT INTO schedules SELECT n, $2 FROM generate_series(1, $1) n", given.count, at)
    statement = await connection.prepare(FIRE)
    await statement.fetch(0.0)
    measures.check_lead(at)
    await asyncio.sleep(at - time.time())
    firing = asyncio.create_task(statement.fetch(at))
    while rows := await firing:
        firing = asyncio.create_task(statement.fetch(at))
        await asyncio.sleep(0)  # the statement is on its way before the calls begin
        for _ in rows:
            mark()
    return measures.burst_figures(begins, at)


async def latency(given: Namespace) -> Mapping[str, float]:
    """In process: the one who submits calls, too."""
    connection = await _connected(given.url)
    statement = await connection.prepare(SUBMIT)
    spans = []
    for number in range(given.count + measures.UNCOUNTED):
        submitted = time.time()
        await statement.fetchval()
        if number >= measures.UNCOUNTED:
            spans.append(time.time() - submitted)
        await asyncio.sleep(measures.PAUSE_SECONDS)
    return measures.latency_figures(spans)


async def notified(given: Namespace) -> Mapping[str, float]:
    client, listener = await _connected(given.url), await asyncpg.connect(given.url)
    worker = await asyncpg.connect(given.url)
    submit, claim = await client.prepare(NOTIFY), await worker.prepare(CLAIM)
    told: asyncio.Queue[int] = asyncio.Queue()
    await listener.add_listener("runs", lambda *said: told.put_nowait(int(said[3])))
    spans = []
    for number in range(given.count + measures.UNCOUNTED):
        submitted = time.time()
        sending = asyncio.create_task(submit.fetchval())
        await claim.fetchval(await told.get())
        if number >= measures.UNCOUNTED:
            spans.append(time.time() - submitted)
        await sending
        await asyncio.sleep(measures.PAUSE_SECONDS)
    return measures.latency_figures(spans)


async def submit(given: Namespace) -> Mapping[str, float]:
    client, recorder = await _connected(given.url), await asyncpg.connect(given.url)
    one, many = await client.prepare(SUBMIT), await client.prepare(SUBMIT_MANY)
    ended: asyncio.Queue[int] = asyncio.Queue()
    began = time.perf_counter()
    recording = asyncio.create_task(_record(recorder, ended, given.count))
    for size in measures.batches(given.count, given.batch or 1):
        made = [await one.fetchval()] if size == 1 else [row["id"] for row in await many.fetch(size)]
        _call(made, ended)
    await recording
    return {"jobs_per_second": given.count / (time.perf_counter() - began)}


def _call(made: Sequence[int], ended: "asyncio.Queue[int]") -> None:
    for run_id in made:
        mark()
        ended.put_nowait(run_id)


async def _record(connection: Any, ended: "asyncio.Queue[int]", count: int) -> None:
    statement = await connection.prepare(END)
    recorded = 0
    while recorded < count:
        batch = [await ended.get()]
        while not ended.empty():
            batch.append(ended.get_nowait())
        await statement.fetch(batch)
        recorded += len(batch)


async def _connected(url: str) -> Any:
    connection = await asyncpg.connect(url)
    await connection.execute(SCHEMA)
    return connection


if __name__ == "__main__":
    measures.main(
        {
            name: lambda given, work=work: uvloop.run(work(given))  # type: ignore[misc]
            for name, work in {"burst": burst, "latency": latency, "notified": notified, "submit": submit}.items()
        }
    )
