"""What runs say of themselves in every store: taken while they run, under their fence, and kept with their end."""

from pathlib import Path
from typing import Any

import pytest

from tests.stores.test_stations import ANN, RACK, THEIRS, Station
from tests.stores.world import World
from waterclock.domain.errors import Forbidden, InvalidInput
from waterclock.domain.lake import LakeKind
from waterclock.domain.progress import Report
from waterclock.domain.run import Attempt, Phase, RunState
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.work import WorkService
from waterclock.stores.base import Tx
from waterclock.stores.ops.progressing import report
from waterclock.stores.ops.rows import loaded

HALF = {"rows_written": 50, "outputs": [{"where": "hdfs://ä/x", "rows": 50}]}


def told(attempt: Attempt, *, fence: int = 0, **said: Any) -> Report:
    return Report(attempt_id=attempt.id, fence=attempt.fence + fence, **said)


async def running(world: World, **spec: Any) -> Attempt:
    await world.job(**spec)
    await world.start()
    attempt = await world.claim_one()
    await world.begin(attempt)
    return attempt


async def progress(world: World, attempt: Attempt) -> dict[str, Any]:
    async def read(tx: Tx) -> dict[str, Any]:
        (row,) = await tx.fetch("newest_attempts_of_runs", {"run_ids": [attempt.run_id]})
        return loaded(row["progress"])

    return await world.database.read(read)


async def phase(world: World, attempt: Attempt) -> str | None:
    return (await world.attempt(attempt.wire_id)).phase


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        (LakeKind.JAVA, Phase.BUILDING),
        (LakeKind.PYTHON, Phase.BUILDING),
        (LakeKind.SQL, Phase.EXECUTING),
        ("shell", Phase.EXECUTING),
    ],
)
async def test_a_run_builds_first_where_its_kind_does(world: World, kind: str, first: Phase) -> None:
    assert await phase(world, await running(world, kind=kind)) == first


async def test_a_report_is_shown_while_the_run_goes_on(world: World) -> None:
    attempt = await running(world, kind=LakeKind.JAVA)
    before = await world.attempt(attempt.wire_id)
    world.pass_time(5)
    said = told(attempt, phase=Phase.EXECUTING, progress=HALF)
    assert await world.database.write(report, reports=[said]) == {attempt.id}
    after = await world.attempt(attempt.wire_id)
    assert (after.phase, await progress(world, attempt)) == (Phase.EXECUTING, HALF)
    assert (after.state, before.phase) == (RunState.RUNNING, Phase.BUILDING)


async def test_a_report_without_a_phase_leaves_it_and_replaces_the_rest(world: World) -> None:
    attempt = await running(world, kind=LakeKind.JAVA)
    await world.database.write(report, reports=[told(attempt, phase=Phase.EXECUTING, progress=HALF)])
    await world.database.write(report, reports=[told(attempt, progress={"rows_read": 1})])
    assert await phase(world, attempt) == Phase.EXECUTING
    assert await progress(world, attempt) == {"rows_read": 1}


async def test_what_has_not_begun_or_is_not_the_writers_is_not_taken(world: World) -> None:
    await world.job()
    await world.start(count=2)
    waits, runs = [each.attempt for each in await world.claim()]
    await world.begin(runs)
    reports = [told(waits, progress=HALF), told(runs, fence=1, progress=HALF), Report(attempt_id=2**40, fence=1)]
    assert await world.database.write(report, reports=reports) == frozenset()
    assert await world.database.write(report, reports=[]) == frozenset()
    assert [await progress(world, each) for each in (waits, runs)] == [{}, {}]


async def test_many_are_told_at_once(world: World) -> None:
    await world.job()
    await world.start(count=3)
    attempts = [each.attempt for each in await world.claim()]
    await world.begin(*attempts)
    await world.database.write(report, reports=[told(each, progress={"rows_read": each.id}) for each in attempts])
    assert [await progress(world, each) for each in attempts] == [{"rows_read": each.id} for each in attempts]


async def test_a_late_report_changes_nothing_of_an_end(world: World) -> None:
    attempt = await running(world)
    await world.end(attempt, progress='{"rows_written": 100}')
    assert await world.database.write(report, reports=[told(attempt, progress=HALF)]) == frozenset()
    assert await progress(world, attempt) == {"rows_written": 100}


async def test_an_end_without_a_report_keeps_the_last(world: World) -> None:
    attempt = await running(world)
    await world.database.write(report, reports=[told(attempt, progress=HALF)])
    await world.end(attempt)
    assert await progress(world, attempt) == HALF


async def test_one_that_is_being_stopped_is_still_heard(world: World) -> None:
    attempt = await running(world)
    await world.stop(attempt.wire_id)
    assert await world.database.write(report, reports=[told(attempt, progress=HALF)]) == {attempt.id}
    await world.end(attempt, state=RunState.STOPPED)
    assert await progress(world, attempt) == HALF


async def test_another_attempt_begins_with_an_empty_report(world: World) -> None:
    attempt = await running(world, kind=LakeKind.PYTHON, retries=1)
    await world.database.write(report, reports=[told(attempt, phase=Phase.EXECUTING, progress=HALF)])
    await world.end(attempt, state=RunState.FAILED, progress='{"rows_written": 70}')
    again = await world.claim_one()
    await world.begin(again)
    assert (again.number, await progress(world, again)) == (1, {})
    assert await phase(world, again) == Phase.BUILDING
    assert await world.database.write(report, reports=[told(attempt, progress=HALF)]) == frozenset()


# Over HTTP


@pytest.fixture
def service(world: World, tmp_path: Path) -> WorkService:
    return WorkService(world.database, {}, Secrets(world.database, SecretBox(tmp_path / "secret.keys")))


async def test_a_worker_over_http_tells_of_its_own_runs_alone(world: World, service: WorkService) -> None:
    await world.job()
    await world.start()
    far, eve = await Station(service, RACK).join(), await Station(service, THEIRS, "theirs").join()
    (held,) = await far.claim()
    await far.begin(held.attempt)
    said = [told(held.attempt, phase=Phase.EXECUTING, progress={"rows_read": 2**70, "bad": float("nan")})]
    assert await service.report(eve.caller, far.host, said) == frozenset()
    assert await service.report(far.caller, far.host, said) == {held.attempt.id}
    assert await progress(world, held.attempt) == {"rows_read": str(2**70), "bad": None}
    await far.end(held.attempt, progress='{"rows_read": 9}')
    assert (await progress(world, held.attempt))["bad"] is None  # what it said last came ahead of its end


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"phase": "x" * 40}, "must be one of"),
        ({"progress": {"text": "x" * 70_000}}, "at most 65536 characters"),
    ],
)
async def test_a_report_that_cannot_be_stored_is_refused_in_words(
    service: WorkService, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        await service.report(RACK, "host", [Report(attempt_id=1, fence=1, **wrong)])
    with pytest.raises(InvalidInput, match="named twice"):
        await service.report(RACK, "host", [Report(attempt_id=1, fence=1)] * 2)


async def test_reports_are_for_workers(service: WorkService) -> None:
    with pytest.raises(Forbidden):
        await service.report(ANN, "host", [])
