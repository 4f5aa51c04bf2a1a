"""What a worker records of a chain's gates and steps, also when it changes in between. The runner is ours."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.by_hand import ByHand, Worker
from tests.runners.chains import probe_of, put, step_of
from waterclock.domain.access import Caller, Role
from waterclock.domain.chain import ChainSpec, Folder, Gate, Step
from waterclock.domain.errors import CannotRun, Unavailable
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules
from waterclock.engine.flight import verdict_on
from waterclock.runners.base import Program
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import chain_runs, chains

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")
RULES = {"chains": FireRules(sequential=False)}


def log_of(program: Program) -> Path:
    return Path(program.log_path)


def copy_of(program: Program) -> set[str] | None:
    try:
        return set(os.listdir(program.cwd))
    except FileNotFoundError:
        return None


class ChainWorker(Worker):
    async def run_chain(self, gate: str = "", step: str = "s.sh") -> int:
        """With one of each, or without a gate; nobody in particular must run it."""
        spec = ChainSpec(
            timestr="@daily",
            main_flag=False,
            dep_ot=5,
            gates=(Gate(env="sh", command=gate, ottime=1),) if gate else (),
            steps=(Step(env="sh", command=step, step_lvl=1, ottime=1),),
        )
        made = await self.database.write(chains.create_chain, org_id=1, owner="ann", spec=spec, probe_seconds=30)
        started = await self.database.write(
            chain_runs.start_chain, org_id=1, chain_id=made.id, requested_by="ann", rules=RULES
        )
        await self.dispatcher.tick()
        return started

    async def attempts_of(self, run_id: int) -> list[Attempt]:
        shown = await self.database.read(chain_runs.get_chain_run, org_id=1, run_id=run_id)
        return sorted((each for node in shown.attempts.values() for each in node), key=lambda attempt: attempt.number)

    async def printed(self, program: Program, text: str, exit_code: int = 0) -> Attempt:
        log_of(program).write_text(text)
        return await self.end(program, exit_code)


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def hire(database: Database, tmp_path: Path) -> AsyncIterator[Callable[..., ChainWorker]]:
    """Workers on one host, one after another, with a gate's script and a step's."""
    put(tmp_path / Folder.DEP, "g.sh", "")
    put(tmp_path / Folder.JOB, "s.sh", "")
    runner, hired = ByHand(), list[ChainWorker]()

    def make(**how: Any) -> ChainWorker:
        for pump in hired[-1].attempts._pumps if hired else ():  # it is gone without a word
            pump.cancel()
        hired.append(ChainWorker(database, tmp_path, runner, f"{len(hired)}", **how))
        return hired[-1]

    yield make
    for worker in hired:
        await worker.attempts.close()


@pytest.fixture
async def worker(hire: Callable[..., ChainWorker]) -> ChainWorker:
    worker = hire()
    await worker.attempts.open()
    return worker


async def test_a_probe_that_says_not_yet_is_evidence_and_another_follows(worker: ChainWorker) -> None:
    run_id = await worker.run_chain("g.sh")
    ended = await worker.printed(await worker.started(), "어제\n1\n")
    assert (ended.state, ended.verdict, ended.message) == (RunState.FAILED, "not_yet", "not yet")
    assert (ended.output, ended.exit_code) == ("어제\n1\n", 0)
    _, following = await worker.attempts_of(run_id)
    assert following.state is RunState.STARTING
    assert following.due_at - ended.updated_at == 30_000_000


async def test_a_gate_that_has_passed_lets_its_chain_begin(worker: ChainWorker) -> None:
    await worker.run_chain("g.sh")
    gate = await worker.started()
    ended = await worker.printed(gate, "0\n")
    assert (ended.state, ended.verdict, ended.output) == (RunState.SUCCEEDED, "passed", "0\n")
    await worker.dispatcher.tick()
    step = await worker.started()
    assert step.argv[-1].endswith("/s.sh")
    assert (await worker.printed(step, "done")).output is None


async def test_a_program_that_cannot_be_prepared_is_an_error_of_its_gate(worker: ChainWorker) -> None:
    run_id = await worker.run_chain("gone/g.sh")
    (probe,) = await worker.attempts_of(run_id)
    ended = await worker.ended(probe.wire_id)
    assert (ended.state, ended.verdict) == (RunState.FAILED, "error")
    assert (ended.message or "").startswith("there is no folder 'gone' below")
    assert len(await worker.attempts_of(run_id)) == 2


def test_a_store_that_does_not_answer_says_nothing_of_a_gate() -> None:
    assert verdict_on(probe_of("g.sh"), CannotRun("no such script")) == "error"
    assert verdict_on(probe_of("g.sh"), OSError("the disk is full")) == "error"
    assert verdict_on(probe_of("g.sh"), Unavailable("away")) is None
    assert verdict_on(step_of("s.sh"), CannotRun("no such script")) is None


async def test_a_probe_is_judged_by_the_worker_that_adopted_it(
    worker: ChainWorker, hire: Callable[..., ChainWorker]
) -> None:
    await worker.run_chain("g.sh")
    program = await worker.started()
    following = hire()
    await following.attempts.open()
    assert (await following.printed(program, "1\n")).verdict == "not_yet"


async def test_a_probe_that_was_lost_with_its_worker_says_nothing(
    worker: ChainWorker, hire: Callable[..., ChainWorker]
) -> None:
    await worker.run_chain("g.sh")
    program = await worker.started()
    worker.runner.programs.clear()
    following = hire()
    await following.attempts.open()
    lost = await following.ended(program.env["WATERCLOCK_RUN_ID"])
    assert (lost.state, lost.verdict, lost.output) == (RunState.FAILED, None, None)


async def test_without_the_key_an_adopted_probe_is_judged_and_nothing_of_it_is_shown(
    worker: ChainWorker, hire: Callable[..., ChainWorker]
) -> None:
    await worker.secrets.put(ANN, "warehouse", "hunter2")
    await worker.run_chain("g.sh;{{secret:warehouse}}")
    program = await worker.started()
    assert program.argv[-1] == "hunter2"
    os.remove(worker.folder / "secret.keys")
    following = hire()
    await following.attempts.open()
    ended = await following.printed(program, "hunter2\n")
    assert (ended.verdict, ended.output) == ("error", None)
    assert ended.message == "it must print 0 (passed) or 1 (not yet)"


async def test_a_probe_whose_output_was_lost_has_not_passed(worker: ChainWorker) -> None:
    await worker.run_chain("g.sh")
    program = await worker.started()
    log_of(program).unlink(missing_ok=True)
    ended = await worker.end(program)
    assert (ended.state, ended.verdict) == (RunState.FAILED, "error")
    assert (ended.message or "").startswith("what it printed cannot be read")


async def test_blanks_that_hide_what_was_printed_have_not_passed(worker: ChainWorker) -> None:
    await worker.run_chain("g.sh")
    ended = await worker.printed(await worker.started(), "1" + "\n" * 5_000)
    assert ended.verdict == "error"


async def test_the_programs_of_a_chain_have_no_bookmark(worker: ChainWorker) -> None:
    await worker.run_chain()
    program = await worker.started()
    assert "WATERCLOCK_BOOKMARK_FILE" not in program.env
    (Path(program.cwd) / ".bookmark").write_text("day 1")
    assert (await worker.printed(program, "")).state is RunState.SUCCEEDED
    assert await worker.messages() == []


async def test_a_step_that_failed_is_told_with_the_end_of_its_output(worker: ChainWorker) -> None:
    await worker.run_chain()
    ended = await worker.printed(await worker.started(), "물" * 5_000 + "끝", exit_code=3)
    assert ended.output == "물" * 3_999 + "끝"
    (message,) = await worker.messages()
    assert message.endswith(f"\n{ended.output}")


async def test_the_copy_is_gone_when_the_end_is_recorded(worker: ChainWorker) -> None:
    await worker.run_chain()
    program = await worker.started()
    assert copy_of(program) == {"s.sh"}
    await worker.printed(program, "")
    async with asyncio.timeout(20):
        while copy_of(program) is not None:
            await asyncio.sleep(0)
