"""What programs of lake jobs say of themselves on its way to the store; the runner is the test itself."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine.by_hand import PLACE, ByHand, Worker
from waterclock.domain.access import Caller, Role
from waterclock.domain.job import JobSpec
from waterclock.domain.lake import LakeKind
from waterclock.domain.lake_secrets import secret_arguments
from waterclock.domain.progress import Report
from waterclock.domain.run import Phase, RunState
from waterclock.engine.reporter import LOOK_SECONDS, REST_SECONDS, Reporter
from waterclock.engine.work import StoreWork
from waterclock.runners.base import Program
from waterclock.runners.lake.report import Reporter as Saying
from waterclock.stores.base import Database, Tx
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import jobs, reading
from waterclock.stores.ops.rows import loaded

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")


class Listening(StoreWork):
    """Remembers what it was told."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.heard: list[list[Report]] = []

    async def report(self, reports: Sequence[Report]) -> frozenset[int]:
        self.heard.append(list(reports))
        return await super().report(reports)


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def worker(database: Database, tmp_path: Path) -> AsyncIterator[Worker]:
    worker = Worker(database, tmp_path, ByHand())
    await worker.attempts.open()
    yield worker
    await worker.attempts.close()


@pytest.fixture
def work(database: Database) -> Listening:
    return Listening(database)


@pytest.fixture
def reporter(work: Listening, worker: Worker) -> Reporter:
    return Reporter(work, worker.attempts)


async def job(worker: Worker, kind: str = LakeKind.PYTHON, **task: Any) -> None:
    spec = JobSpec(kind=kind, call=task, max_concurrent=0, fixed_arguments=secret_arguments(task))
    await worker.database.write(jobs.create_job, **PLACE, name="job", owner="ann", spec=spec, definition={}, tags={})


async def begun(worker: Worker, program: Program) -> None:
    """As the recorder stores it."""
    runner_says = worker.runner._begun(program)
    worker.attempts._begun(runner_says)
    await worker.attempts.recorder.tick()


def log_of(program: Program) -> Path:
    return Path(program.log_path)


def saying(program: Program) -> Saying:
    return Saying(Path(program.cwd))


async def stored(worker: Worker, program: Program) -> tuple[str | None, dict[str, Any]]:
    found = await worker.database.read(reading.get_attempt, org_id=1, wire_id=program.env["WATERCLOCK_RUN_ID"])
    assert found is not None
    run_id, phase = found.run_id, found.phase

    async def read(tx: Tx) -> dict[str, Any]:
        (row,) = await tx.fetch("newest_attempts_of_runs", {"run_ids": [run_id]})
        return loaded(row["progress"])

    return phase, await worker.database.read(read)


async def test_a_change_is_told_once(worker: Worker, work: Listening, reporter: Reporter) -> None:
    await job(worker, code="1")
    program = await worker.start()
    await begun(worker, program)
    assert await reporter.tick() == LOOK_SECONDS
    assert work.heard == []  # it has said nothing: it is as the store has it
    saying(program).progress(rows_read=1)
    for _ in range(3):
        await reporter.tick()
    assert len(work.heard) == 1
    assert await stored(worker, program) == (Phase.BUILDING, {"rows_read": 1})
    saying(program).phase(Phase.EXECUTING)
    await reporter.tick()
    assert (await stored(worker, program))[0] == Phase.EXECUTING


async def test_what_is_said_before_the_beginning_is_stored_is_told_again(
    worker: Worker, work: Listening, reporter: Reporter
) -> None:
    await job(worker, code="1")
    program = await worker.start()
    saying(program).phase(Phase.EXECUTING)
    await reporter.tick()
    await begun(worker, program)
    assert (await stored(worker, program))[0] == Phase.BUILDING
    await reporter.tick()
    assert (await stored(worker, program))[0] == Phase.EXECUTING
    assert len(work.heard) == 2


async def test_all_that_changed_goes_in_one_call(worker: Worker, work: Listening, reporter: Reporter) -> None:
    await job(worker, code="1")
    for _ in range(3):
        await worker.ask()
    await worker.dispatcher.tick()
    while len(worker.runner.programs) < 3:
        await worker.started()
    for program in worker.runner.programs.values():
        await begun(worker, program)
        saying(program).progress(rows_read=program.attempt_id)
    await reporter.tick()
    assert [len(reports) for reports in work.heard] == [3]


async def test_it_rests_where_nothing_reports_and_is_woken_when_something_starts(
    worker: Worker, work: Listening, reporter: Reporter
) -> None:
    woken: list[bool] = []
    worker.attempts.reporting = lambda: woken.append(True)
    assert await reporter.tick() == REST_SECONDS
    await job(worker, code="1")
    program = await worker.start()
    assert woken == [True]
    assert await reporter.tick() == LOOK_SECONDS
    await worker.end(program)
    assert await reporter.tick() == REST_SECONDS
    assert work.heard == []


async def test_the_last_report_is_stored_with_the_end(worker: Worker) -> None:
    await job(worker, code="1")
    program = await worker.start()
    said = saying(program)
    said.phase(Phase.EXECUTING)
    said.progress(rows_written=7)
    attempt = await worker.end(program)
    assert (attempt.state, attempt.message) == (RunState.SUCCEEDED, None)
    assert await stored(worker, program) == (None, {"rows_written": 7})


async def test_a_failed_run_says_first_why(worker: Worker) -> None:
    await job(worker, code="1")
    program = await worker.start()
    log_of(program).write_text("much output\nno such repository\n")
    saying(program).reason("no such repository")
    attempt = await worker.end(program, exit_code=1)
    assert (attempt.state, attempt.message) == (RunState.FAILED, "no such repository (exit code 1)")


async def test_a_program_that_gives_no_reason_is_told_by_its_last_words(worker: Worker) -> None:
    await job(worker, code="1")
    program = await worker.start()
    log_of(program).write_text("ZeroDivisionError: division by zero\n")
    attempt = await worker.end(program, exit_code=1)
    assert attempt.message == "exit code 1: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    "file",
    [
        b"[" * 60_000,
        b"not json",
        b"[1, 2]",
        b'{"phase": {"a": 1}, "progress": 3, "reason": ["x"]}',
        b'{"phase": "' + b"x" * 60_000 + b'"}',
        b'{"progress": {"a": "\\ud800\\u0000", "b": 1e400, "c": ' + b"9" * 300 + b"}}",
        b'{"progress": {"a": ' + b'{"a": ' * 200 + b"1" + b"}" * 201 + b"}",
    ],
    ids=["deep", "words", "list", "types", "long phase", "odd values", "nested"],
)
async def test_whatever_a_program_writes_its_run_ends_as_it_did(
    worker: Worker, reporter: Reporter, file: bytes
) -> None:
    await job(worker, code="1")
    program = await worker.start()
    await begun(worker, program)
    (Path(program.cwd) / "report.json").write_bytes(file)
    await reporter.tick()
    assert (await worker.end(program)).state is RunState.SUCCEEDED
    json.dumps((await stored(worker, program))[1], allow_nan=False)


async def test_a_link_in_place_of_the_report_is_not_followed(worker: Worker, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"progress": {"stolen": 1}}')
    await job(worker, code="1")
    program = await worker.start()
    (Path(program.cwd) / "report.json").symlink_to(elsewhere)
    await worker.end(program)
    assert (await stored(worker, program))[1] == {}


# Secrets


async def test_secrets_of_a_task_are_given_and_never_shown(worker: Worker, work: Listening, reporter: Reporter) -> None:
    await worker.secrets.put(ANN, "token", "hunter22")
    await worker.secrets.put(ANN, "git", "ann:pass-word")
    await job(worker, code="1", args=["--key={{secret:token}}"], credentials="git")
    program = await worker.start()
    await begun(worker, program)
    order = json.loads((Path(program.cwd) / "order.json").read_text())
    assert order["task"]["args"] == ["--key=hunter22"]
    assert order["task"]["credentials"] == "ann:pass-word"
    assert "hunter22" not in str(program.env)
    said = saying(program)
    said.progress(outputs=[{"where": "s3://hunter22@x"}])
    await reporter.tick()
    assert await stored(worker, program) == (Phase.BUILDING, {"outputs": [{"where": "s3://***@x"}]})
    said.reason("cannot log in with ann:pass-word")
    attempt = await worker.end(program, exit_code=1)
    assert attempt.message == "cannot log in with *** (exit code 1)"
    assert await stored(worker, program) == (None, {"outputs": [{"where": "s3://***@x"}]})


async def test_a_run_names_the_secrets_that_its_log_must_not_show(worker: Worker) -> None:
    await worker.secrets.put(ANN, "token", "hunter22")
    await job(worker, code="1", args=["{{secret:token}}"])
    program = await worker.start()
    found = await worker.database.read(reading.get_attempt, org_id=1, wire_id=program.env["WATERCLOCK_RUN_ID"])
    assert found is not None
    assert found.arguments == {"--secrets": "{{secret:token}}"}


async def test_a_reference_that_cannot_be_read_fails_the_run_by_its_place(worker: Worker) -> None:
    await job(worker, code="1", query_info={"outputs": [{"table": "{{secret:no name}}"}]})
    wire_id = await worker.ask()
    await worker.dispatcher.tick()
    attempt = await worker.ended(wire_id)
    assert attempt.message is not None
    assert attempt.message.startswith("query_info.outputs[0].table")


async def test_a_worker_that_adopts_a_run_tells_how_far_it_is(
    worker: Worker, database: Database, tmp_path: Path
) -> None:
    await job(worker, code="1")
    program = await worker.start()
    await begun(worker, program)
    for pump in worker.attempts._pumps:
        pump.cancel()
    following = Worker(database, tmp_path, worker.runner, "two")
    await following.attempts.open()
    saying(program).progress(rows_read=3)
    await Reporter(StoreWork(database), following.attempts).tick()
    assert (await stored(following, program))[1] == {"rows_read": 3}
    await following.attempts.close()
