"""What programs are given, and what is kept of them, also when the worker changes in between. The runner is ours."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engine.by_hand import PLACE, ByHand, Worker
from waterclock.domain.access import Caller, Role
from waterclock.domain.errors import Unavailable
from waterclock.domain.job import JobSpec
from waterclock.domain.masking import Masks
from waterclock.domain.placement import MB
from waterclock.domain.run import Attempt, RunState
from waterclock.runners.base import Program
from waterclock.services.secrets import Secrets, SecretsOfRuns
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import jobs

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")


def file_of(program: Program) -> Path:
    return Path(program.env["WATERCLOCK_BOOKMARK_FILE"])


def log_of(program: Program) -> Path:
    return Path(program.log_path)


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def hire(database: Database, tmp_path: Path) -> AsyncIterator[Callable[..., Worker]]:
    """Workers on one host, one after another."""
    runner, hired = ByHand(), list[Worker]()

    def make(**how: Any) -> Worker:
        hired.append(Worker(database, tmp_path, runner, f"{len(hired)}", **how))
        return hired[-1]

    yield make
    for worker in hired:
        await worker.attempts.close()


@pytest.fixture
async def worker(hire: Callable[..., Worker], database: Database, tmp_path: Path) -> Worker:
    script = tmp_path / "job.sh"
    script.touch()
    spec = JobSpec(kind="shell", script=script.as_uri(), max_concurrent=0)
    await database.write(jobs.create_job, **PLACE, name="job", owner="ann", spec=spec, definition={}, tags={})
    worker = hire()
    await worker.attempts.open()
    return worker


async def changed(worker: Worker, hire: Callable[..., Worker], **how: Any) -> Worker:
    """The worker is gone without a word; the next one adopts what its runner holds."""
    for pump in worker.attempts._pumps:
        pump.cancel()
    following = hire(**how)
    await following.attempts.open()
    return following


# Folders


async def test_what_a_lost_host_left_is_removed_and_what_is_adopted_stays(
    worker: Worker, hire: Callable[..., Worker], tmp_path: Path
) -> None:
    """Power may go at any moment; what was in flight then may have been decided elsewhere since."""
    program = await worker.start()
    left = tmp_path / "work" / "77"
    left.mkdir()
    (left / "order.json").touch()
    before = tmp_path / "work" / ".left-66"  # of a worker that was killed while it removed it
    before.mkdir()
    following = await changed(worker, hire)
    await asyncio.gather(*following.attempts._tidying)
    assert [path.name for path in (tmp_path / "work").iterdir()] == [Path(program.cwd).name]


# Bookmarks


async def test_a_program_finds_what_the_last_run_left(worker: Worker) -> None:
    first = await worker.start()
    assert not file_of(first).exists()
    assert file_of(first).parent == Path(first.cwd)
    file_of(first).write_text("day 1")
    await worker.end(first)
    second = await worker.start()
    assert file_of(second).read_text() == "day 1"


async def test_a_program_that_failed_leaves_nothing(worker: Worker) -> None:
    program = await worker.start()
    file_of(program).write_text("day 1")
    await worker.end(program, exit_code=1)
    assert await worker.bookmark() is None


async def test_a_paused_bookmark_is_given_and_not_saved(worker: Worker) -> None:
    program = await worker.start()
    file_of(program).write_text("day 1")
    await worker.end(program)
    paused = await worker.start(job_bookmark_option="job-bookmark-pause")
    assert file_of(paused).read_text() == "day 1"
    file_of(paused).write_text("day 2")
    await worker.end(paused)
    assert await worker.bookmark() == "day 1"


async def test_a_disabled_bookmark_is_neither_given_nor_saved(worker: Worker) -> None:
    program = await worker.start(job_bookmark_option="job-bookmark-disable")
    assert "WATERCLOCK_BOOKMARK_FILE" not in program.env
    (Path(program.cwd) / ".bookmark").write_text("day 1")
    await worker.end(program)
    assert await worker.bookmark() is None


async def test_what_cannot_be_saved_is_told_of(worker: Worker) -> None:
    program = await worker.start()
    file_of(program).symlink_to("/etc/passwd")
    assert (await worker.end(program)).state is RunState.SUCCEEDED
    assert await worker.bookmark() is None
    (message,) = await worker.messages()
    assert message.endswith("its bookmark was not saved: it is a link")


async def test_a_bookmark_is_saved_by_the_worker_that_adopted_the_run(
    worker: Worker, hire: Callable[..., Worker]
) -> None:
    program = await worker.start()
    following = await changed(worker, hire)
    file_of(program).write_text("day 1")
    await following.end(program)
    assert await following.bookmark() == "day 1"


async def test_an_adopted_run_that_left_its_file_alone_does_not_undo_what_another_saved(
    worker: Worker, hire: Callable[..., Worker]
) -> None:
    first = await worker.start()
    file_of(first).write_text("day 1")
    await worker.end(first)
    slow = await worker.start()
    await worker.ask()
    await worker.dispatcher.tick()
    (quick,) = [program for program in worker.runner.programs.values() if program is not slow]
    file_of(quick).write_text("day 2")
    await worker.end(quick)
    following = await changed(worker, hire)
    await following.end(slow)
    assert await following.bookmark() == "day 2"


async def test_a_program_whose_start_was_not_answered_has_its_bookmark_saved(worker: Worker) -> None:
    await worker.ask()
    worker.runner.loses_answers = True
    with pytest.raises(Unavailable):
        await worker.dispatcher.tick()
    program = await worker.started()
    file_of(program).write_text("day 1")
    await worker.end(program)
    assert await worker.bookmark() == "day 1"


# Secrets


async def test_a_program_is_given_the_values_and_not_the_names(worker: Worker) -> None:
    await worker.secrets.put(ANN, "warehouse", "hunter2")
    program = await worker.start(url="db://{{secret:warehouse}}", secret_env="PASSWORD=warehouse")
    assert program.argv[-2:] == ("--url", "db://hunter2")
    assert program.env["PASSWORD"] == "hunter2"
    assert "--secret-env" not in program.argv
    ended = await worker.end(program)
    assert ended.arguments == {"--url": "db://{{secret:warehouse}}", "--secret-env": "PASSWORD=warehouse"}


@pytest.mark.parametrize(
    ("deleted", "words"), [(False, "there is no secret 'warehouse'"), (True, "the secret 'warehouse' was deleted")]
)
async def test_a_secret_that_is_not_there_fails_the_run(worker: Worker, deleted: bool, words: str) -> None:
    if deleted:
        await worker.secrets.put(ANN, "warehouse", "hunter2")
        await worker.secrets.delete(ANN, "warehouse")
    wire_id = await worker.ask(secret_env="PASSWORD=warehouse")
    await worker.dispatcher.tick()
    ended = await worker.ended(wire_id)
    assert ended.state is RunState.FAILED
    assert ended.message is not None
    assert words in ended.message
    assert not worker.runner.programs


async def test_a_reference_that_cannot_be_read_fails_the_run(worker: Worker) -> None:
    wire_id = await worker.ask(url="{{secret:ware house}}")
    await worker.dispatcher.tick()
    ended = await worker.ended(wire_id)
    assert (ended.message or "").startswith("argument --url: a reference to a secret is {{secret:NAME}}")


async def test_the_last_words_of_a_program_do_not_tell_its_secret(worker: Worker) -> None:
    await worker.secrets.put(ANN, "warehouse", "hunter2")
    program = await worker.start(secret_env="PASSWORD=warehouse")
    log_of(program).write_text("x" * 10_000 + "\nno login as hunter2\n")
    ended = await worker.end(program, exit_code=1)
    assert ended.message == "exit code 1: no login as ***"


async def test_the_last_words_of_an_adopted_program_do_not_tell_it_either(
    worker: Worker, hire: Callable[..., Worker]
) -> None:
    await worker.secrets.put(ANN, "warehouse", "hunter2")
    program = await worker.start(secret_env="PASSWORD=warehouse")
    following = await changed(worker, hire)
    await worker.secrets.put(ANN, "warehouse", "another")
    log_of(program).write_text("no login as hunter2\n")
    ended = await following.end(program, exit_code=1)
    assert ended.message == "exit code 1: no login as ***"


async def test_without_the_key_an_adopted_program_has_no_last_words(
    worker: Worker, hire: Callable[..., Worker]
) -> None:
    await worker.secrets.put(ANN, "warehouse", "hunter2")
    program = await worker.start(secret_env="PASSWORD=warehouse")
    os.remove(worker.folder / "secret.keys")
    following = await changed(worker, hire)
    log_of(program).write_text("no login as hunter2\n")
    ended = await following.end(program, exit_code=1)
    assert ended.message == "exit code 1"


class Away:
    """A store that does not answer at first."""

    def __init__(self, secrets: Secrets, times: int) -> None:
        self._secrets = SecretsOfRuns(secrets)
        self.times = times

    async def values(self, attempt: Attempt, names: Collection[str]) -> Mapping[str, str]:
        self.times -= 1
        if self.times >= 0:
            raise Unavailable("the store does not answer")
        return await self._secrets.values(attempt, names)

    async def masks(self, attempt: Attempt, names: Collection[str]) -> Masks:
        return await self._secrets.masks(attempt, names)


async def test_a_store_that_is_away_for_a_moment_fails_no_run(
    worker: Worker, hire: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("waterclock.engine.attempt.AGAIN_SECONDS", 0.001)
    await worker.secrets.put(ANN, "warehouse", "hunter2")
    away = Away(worker.secrets, times=3)
    patient = await changed(worker, hire, secrets=away)
    program = await patient.start(secret_env="PASSWORD=warehouse")
    assert program.env["PASSWORD"] == "hunter2"
    assert away.times == -1


async def test_a_run_without_references_asks_for_no_secret(worker: Worker, hire: Callable[..., Worker]) -> None:
    patient = await changed(worker, hire, secrets=object())
    program = await patient.start(day="today")
    log_of(program).write_text("no luck\n")
    assert (await patient.end(program, exit_code=1)).message == "exit code 1: no luck"


# Memory


async def test_the_memory_of_a_run_is_taken_until_its_end_also_by_the_next_worker(
    worker: Worker, hire: Callable[..., Worker], database: Database, tmp_path: Path
) -> None:
    spec = JobSpec(
        kind="shell", script=(tmp_path / "job.sh").as_uri(), max_concurrent=0, limits={"memory_bytes": 600 * MB}
    )
    await database.write(
        jobs.update_job, **PLACE, name="job", by="ann", revise=lambda _: (spec, {}), allow=lambda _: None
    )
    first = await worker.start()
    counting = await changed(worker, hire, memory_mb=1_000)
    await counting.ask()
    await counting.dispatcher.tick()
    assert counting.attempts.total() == 1
    await counting.end(first)
    await counting.dispatcher.tick()
    assert counting.attempts.total() == 1
    assert first.attempt_id not in counting.attempts.known()
