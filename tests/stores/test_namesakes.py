"""A fire of a program's job finds it by the number that its trigger has written down, and by its name where it must."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import pytest

from tests.stores.programming import QUEUE, Program
from tests.stores.raw import rows
from waterclock.domain.claim import Taker
from waterclock.domain.library import NAMESPACE, RULES
from waterclock.stores import database_from_url
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.foreseeing import Foreseen, due_together, foresee, numbers_ahead
from waterclock.stores.ops.volley import NUMBERS_EACH, volley
from waterclock.stores.ops.volley_firing import fire_volley

TAKERS: Final = {QUEUE: Taker(node="scheduler", host="host", room=100, ttl_seconds=60.0)}
NUMBERS: Final = "SELECT job_id FROM triggers ORDER BY name"


@pytest.fixture
async def program(store_url: str) -> AsyncIterator[Program]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    program = await Program.on(database)
    program.pass_time(-12)
    await program.add(program.job("a"), program.job("b"))
    yield program
    await database.close()


class Noting:
    """A transaction that knows what was asked for."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    async def fetch(self, name: str, values: Any = None) -> Sequence[Row]:
        self.asked.append(name)
        return await self._tx.fetch(name, values)


async def noted(tx: Any, *, due: Sequence[Row]) -> tuple[list[Foreseen], list[str]]:
    noting: Any = Noting(tx)
    return await foresee(noting, due=due), noting.asked


async def looked(program: Program) -> tuple[list[Foreseen], list[str]]:
    due = await program.database.look_up(due_together, ticker=NAMESPACE, due_at=program.due, limit=100)
    return await program.database.read(noted, due=due)


async def fired(program: Program, found: list[Foreseen]) -> None:
    numbers = iter(await program.database.write(numbers_ahead, count=NUMBERS_EACH * len(found)))
    made = volley(found, program.due, TAKERS, numbers)
    assert made
    program.pass_time(12)
    assert (await program.database.write(fire_volley, volley=made, about=program.due)).is_fired


def names(found: list[Foreseen]) -> dict[str, str | None]:
    return {each.row["name"]: each.job.name if each.job else None for each in found}


async def numbers(url: str) -> list[int | None]:
    return [row["job_id"] for row in await rows(url, NUMBERS)]


async def test_a_job_is_found_by_its_number_and_no_name_is_looked_for(program: Program) -> None:
    found, asked = await looked(program)
    assert names(found) == {"a": "a", "b": "b"}
    assert asked == ["jobs_by_ids"]


async def test_a_trigger_that_the_version_before_made_has_its_jobs_number_from_its_next_fire_on(
    program: Program, store_url: str
) -> None:
    told = await numbers(store_url)
    await rows(store_url, "UPDATE triggers SET job_id = NULL", NUMBERS)
    found, asked = await looked(program)
    assert names(found) == {"a": "a", "b": "b"}
    assert asked == ["jobs_by_names"]
    await fired(program, found)
    assert await numbers(store_url) == told


async def test_a_number_of_a_job_that_is_gone_or_of_another_is_not_believed(program: Program, store_url: str) -> None:
    """Nobody writes such a number; a job that was deleted alone and added anew would have one that is not its own."""
    told = await numbers(store_url)
    await rows(store_url, f"UPDATE triggers SET job_id = {told[1]} WHERE name = 'a'", NUMBERS)
    await rows(store_url, "UPDATE triggers SET job_id = 999999 WHERE name = 'b'", NUMBERS)
    found, _ = await looked(program)
    assert names(found) == {"a": "a", "b": "b"}
    await fired(program, found)
    assert await numbers(store_url) == told


async def test_a_fire_that_is_decided_with_care_leaves_the_number_as_it_is(program: Program, store_url: str) -> None:
    told = await numbers(store_url)
    program.pass_time(12)
    await program.database.write(fire_due, limit=100, rules={NAMESPACE: RULES}, ticker=NAMESPACE, takers=TAKERS)
    assert await numbers(store_url) == told
    assert None not in told
