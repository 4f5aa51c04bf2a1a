"""The limit of the stored workload (W4): what is due is moved on and noted by one statement of a bare asyncpg loop.

A schedule is a number and its next instant, a fire one row of a ledger: what any durable scheduler has to write.
"""

import asyncio
import time

import asyncpg

from bench.peers.stored_window import Work, asked, measured, note, tell

TABLES = """
CREATE TABLE schedules (id BIGINT PRIMARY KEY, slot BIGINT NOT NULL, period BIGINT NOT NULL, next_at BIGINT NOT NULL);
CREATE TABLE fires (schedule_id BIGINT NOT NULL, fire_at BIGINT NOT NULL, PRIMARY KEY (schedule_id, fire_at));
"""
FIRE = """
WITH due AS (SELECT id, slot, next_at FROM schedules WHERE next_at <= $1 ORDER BY next_at LIMIT 1000
    FOR UPDATE SKIP LOCKED),
  fired AS (INSERT INTO fires SELECT id, next_at FROM due),
  moved AS (UPDATE schedules s SET next_at = s.next_at + s.period FROM due WHERE s.id = due.id)
SELECT slot FROM due
"""
NEXT = "SELECT MIN(next_at) FROM schedules"


async def fill(work: Work) -> None:
    connection = await asyncpg.connect(work.url)
    await connection.execute(TABLES)
    rows = ((n, work.slot(n), work.period, int(work.base) + work.slot(n)) for n in range(work.count))
    await connection.copy_records_to_table("schedules", records=rows)
    await connection.execute("CREATE INDEX schedules_due ON schedules (next_at)")
    await connection.close()


async def fire(work: Work) -> None:
    connection = await asyncpg.connect(work.url)
    while True:
        for row in await connection.fetch(FIRE, int(time.time())):
            note(row["slot"])
        await asyncio.sleep(max(0.0, await connection.fetchval(NEXT) - time.time()))


async def run(work: Work) -> None:
    firing = asyncio.create_task(fire(work))
    tell(await asyncio.to_thread(measured, work))
    firing.cancel()


def main() -> None:
    work, began = asked(), time.perf_counter()
    asyncio.run(fill(work) if work.step == "fill" else run(work))
    if work.step == "fill":
        tell({"fill_seconds": time.perf_counter() - began})


if __name__ == "__main__":
    main()
