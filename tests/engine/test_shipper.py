"""The shipper, round by round: all that a program wrote is in the store, once, whoever dies or does not answer."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.by_hand import PLACE, ByHand, Worker
from waterclock import clock
from waterclock.domain.errors import NotAllowed, Unavailable
from waterclock.domain.job import JobSpec
from waterclock.domain.run import RunState
from waterclock.engine import shipper as shipping
from waterclock.engine.shipper import Shipper
from waterclock.runners.base import Program
from waterclock.runners.log_shipping import IntoStore
from waterclock.runners.log_store import FileLogStore
from waterclock.runners.outbox import Outbox, Outgoing
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import jobs


class Way(IntoStore):
    """Into a folder, with a trouble now and then."""

    def __init__(self, store: FileLogStore) -> None:
        super().__init__(store)
        self.is_cut = False
        self.loses_answers = False
        self.refused: set[str] = set()
        self.calls: list[tuple[str, int, int]] = []

    async def ship(self, log: Outgoing, offset: int, data: bytes, *, last: bool) -> int:
        self.calls.append((log.name, offset, len(data)))
        if self.is_cut:
            raise Unavailable("the log store does not answer")
        if log.name in self.refused:
            raise NotAllowed("it was claimed again")
        there = await super().ship(log, offset, data, last=last)
        if self.loses_answers:
            raise Unavailable("the answer was lost")
        return there


class Bench:
    """A worker's outbox, its store, and which programs run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "outbox"
        self.folder.mkdir()
        self.store = FileLogStore(folder / "store")
        self.way = Way(self.store)
        self.running: set[int] = set()
        self.restart()

    def restart(self) -> None:
        self.shipper = Shipper(self.way, Outbox(self.folder), lambda: frozenset(self.running))

    def path(self, number: int) -> Path:
        return self.folder / f"2026-11-16.jr_{number}.{number}.7.log"

    def write(self, number: int, data: bytes) -> None:
        with self.path(number).open("ab") as file:
            file.write(data)

    def begin(self, number: int, data: bytes = b"") -> None:
        self.running.add(number)
        self.write(number, data)

    def end(self, number: int) -> None:
        self.running.remove(number)

    def grow_old(self, number: int, seconds: float = 3600) -> None:
        then = clock.wall_us() / 1_000_000 - seconds
        os.utime(self.path(number), (then, then))

    def stored(self, number: int) -> tuple[bytes, bool]:
        name = name_of(number)
        return self.store.read(name, 0, 10**6)[0], self.store.is_finished(name)

    async def ticks(self) -> None:
        """Until it rests."""
        while await self.shipper.tick() == 0:
            pass


def name_of(number: int) -> str:
    return f"2026-11-16/jr_{number}.log"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_log_is_shipped_while_it_grows_and_finished_after_its_end(bench: Bench) -> None:
    assert await bench.shipper.tick() >= shipping.REST_SECONDS
    bench.begin(1, b"one\n")
    await bench.ticks()
    assert bench.stored(1) == (b"one\n", False)
    bench.write(1, b"two\n")
    await bench.ticks()
    assert bench.stored(1) == (b"one\ntwo\n", False)
    bench.write(1, b"three\n")
    bench.end(1)
    await bench.ticks()
    assert bench.stored(1) == (b"one\ntwo\nthree\n", True)


async def test_a_program_that_begins_and_ends_between_two_looks_is_shipped(bench: Bench) -> None:
    await bench.shipper.tick()
    bench.write(1, b"short\n")
    bench.write(2, b"")
    await bench.ticks()
    assert [bench.stored(number) for number in (1, 2)] == [(b"short\n", True), (b"", True)]


async def test_nothing_is_sent_while_nothing_is_new(bench: Bench) -> None:
    bench.begin(1, b"one\n")
    await bench.ticks()
    sent = len(bench.way.calls)
    await bench.ticks()
    bench.end(1)
    await bench.ticks()
    await bench.ticks()
    assert bench.way.calls[sent:] == [(name_of(1), 4, 0)]


async def test_a_long_log_does_not_keep_the_others_waiting(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "CHUNK_BYTES", 10)
    await bench.shipper.tick()
    bench.begin(1, b"x" * 1000)
    bench.begin(2, b"small")
    bench.write(3, b"y" * 30)
    assert await bench.shipper.tick() == 0
    assert [len(bench.stored(number)[0]) for number in (1, 2, 3)] == [10, 5, 10]
    await bench.ticks()
    assert [len(bench.stored(number)[0]) for number in (1, 2, 3)] == [1000, 5, 30]


async def test_of_many_logs_those_that_waited_longest_come_first(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "ROUND", 2)
    monkeypatch.setattr(shipping, "CHUNK_BYTES", 1)
    await bench.shipper.tick()
    for number in range(1, 6):
        bench.begin(number, b"xx")
    for _ in range(3):
        assert await bench.shipper.tick() == 0
    assert {name for name, _, _ in bench.way.calls[:6]} == {name_of(number) for number in range(1, 6)}
    await bench.ticks()
    assert all(bench.stored(number)[0] == b"xx" for number in range(1, 6))


async def test_whoever_starts_again_goes_on_from_what_is_there(bench: Bench) -> None:
    bench.begin(1, b"one\n")
    await bench.ticks()
    bench.write(1, b"two\n")
    bench.restart()
    await bench.ticks()
    assert bench.way.calls[-2:] == [(name_of(1), 0, 0), (name_of(1), 4, 4)]
    assert bench.stored(1) == (b"one\ntwo\n", False)


async def test_what_an_earlier_worker_left_is_finished_once_it_is_surely_dead(bench: Bench) -> None:
    bench.write(1, b"one\n")
    bench.write(2, b"two\n")
    bench.grow_old(1)
    await bench.ticks()
    assert [bench.stored(number) for number in (1, 2)] == [(b"one\n", True), (b"two\n", False)]
    bench.write(2, b"dying words\n")
    await bench.ticks()
    bench.grow_old(2)
    await bench.ticks()
    assert bench.stored(2) == (b"two\ndying words\n", True)


async def test_a_store_that_is_away_loses_nothing(bench: Bench) -> None:
    await bench.shipper.tick()
    bench.begin(1, b"one\n")
    bench.way.is_cut = True
    with pytest.raises(Unavailable):
        await bench.shipper.tick()
    bench.write(1, b"two\n")
    bench.end(1)
    with pytest.raises(Unavailable):
        await bench.shipper.tick()
    await bench.shipper.flush()
    bench.way.is_cut = False
    await bench.ticks()
    assert bench.stored(1) == (b"one\ntwo\n", True)


async def test_a_piece_whose_answer_was_lost_is_there_once(bench: Bench) -> None:
    await bench.shipper.tick()
    for data in (b"one\n", b"two\n"):
        bench.begin(1, data)
        bench.way.loses_answers = True
        with pytest.raises(Unavailable):
            await bench.shipper.tick()
        bench.way.loses_answers = False
        await bench.ticks()
    bench.end(1)
    bench.way.loses_answers = True
    with pytest.raises(Unavailable):
        await bench.shipper.tick()
    bench.way.loses_answers = False
    await bench.ticks()
    assert bench.stored(1) == (b"one\ntwo\n", True)


async def test_a_log_that_the_store_has_lost_is_shipped_again(bench: Bench) -> None:
    bench.begin(1, b"one\n")
    await bench.ticks()
    bench.store.remove([name_of(1)])
    bench.write(1, b"two\n")
    await bench.ticks()
    await bench.ticks()
    assert bench.stored(1) == (b"one\ntwo\n", False)


async def test_a_log_that_is_refused_stays_for_a_day_and_stops_no_other(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.way.refused.add(name_of(1))
    bench.begin(1, b"one\n")
    bench.begin(2, b"two\n")
    for _ in range(3):
        await bench.ticks()
    assert bench.stored(2) == (b"two\n", False)
    assert [name for name, _, _ in bench.way.calls].count(name_of(1)) == 1
    assert "jr_1.log stays here" in caplog.text
    assert bench.path(1).exists()
    bench.grow_old(1, 25 * 3600)
    await bench.ticks()
    assert not bench.path(1).exists()


async def test_what_is_safe_in_the_store_leaves_the_disk_after_a_while(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.begin(1, b"one\n")
    bench.write(2, b"two\n")
    bench.grow_old(2)
    await bench.ticks()
    assert bench.path(2).exists()
    monkeypatch.setattr(shipping, "KEEP_SECONDS", 0.0)
    await bench.ticks()
    assert [bench.path(number).exists() for number in (1, 2)] == [True, False]
    assert bench.stored(2) == (b"two\n", True)


async def test_it_is_behind_until_all_that_ended_is_safe(bench: Bench) -> None:
    await bench.shipper.tick()
    bench.write(1, b"one\n")
    bench.shipper.hear_end()
    assert bench.shipper.is_behind()
    bench.way.is_cut = True
    with pytest.raises(Unavailable):
        await bench.shipper.tick()
    assert bench.shipper.is_behind()
    bench.way.is_cut = False
    await bench.ticks()
    assert not bench.shipper.is_behind()


async def test_files_of_others_in_the_outbox_are_left_alone(bench: Bench) -> None:
    (bench.folder / "notes.txt").write_text("mine")
    (bench.folder / "2026-11-16.jr_9.9.7.log").symlink_to("/etc/hostname")
    await bench.ticks()
    assert bench.way.calls == []


# With a worker


def print_in(program: Program, text: str) -> None:
    with Path(program.log_path).open("a") as file:
        file.write(text)


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def hire(database: Database, tmp_path: Path) -> AsyncIterator[Callable[[], Worker]]:
    """Workers that ship, one after another on one host."""
    script = tmp_path / "job.sh"
    script.touch()
    spec = JobSpec(kind="shell", script=script.as_uri(), max_concurrent=0)
    await database.write(jobs.create_job, **PLACE, name="job", owner="ann", spec=spec, definition={}, tags={})
    runner, hired = ByHand(), list[Worker]()

    def make() -> Worker:
        hired.append(Worker(database, tmp_path, runner, f"{len(hired)}", ships=True))
        return hired[-1]

    yield make
    for worker in hired:
        await worker.attempts.close()


async def test_a_workers_log_is_in_the_store_under_the_name_that_its_attempt_tells(
    hire: Callable[[], Worker], tmp_path: Path
) -> None:
    worker, store = hire(), FileLogStore(tmp_path / "store")
    shipper = Shipper(IntoStore(store), worker.outbox, worker.attempts.known)
    await worker.attempts.open()
    await shipper.tick()
    program = await worker.start()
    print_in(program, "on its way\n")
    await shipper.tick()
    ended = await worker.end(program, exit_code=1)
    assert ended.log_path is not None
    assert (store.read(ended.log_path, 0, 99)[0], store.is_finished(ended.log_path)) == (b"on its way\n", False)
    assert ended.message == "exit code 1: on its way"
    await shipper.tick()
    assert store.is_finished(ended.log_path)


async def test_the_end_of_a_run_does_not_wait_for_a_store_that_is_away(
    hire: Callable[[], Worker], tmp_path: Path
) -> None:
    worker, way = hire(), Way(FileLogStore(tmp_path / "store"))
    way.is_cut = True
    shipper = Shipper(way, worker.outbox, worker.attempts.known)
    await worker.attempts.open()
    program = await worker.start()
    print_in(program, "on its way\n")
    with pytest.raises(Unavailable):
        await shipper.tick()
    assert (await worker.end(program)).state is RunState.SUCCEEDED
    assert [each.size for each in worker.outbox.outgoing()] == [len("on its way\n")]


async def test_a_worker_that_adopts_a_run_finds_its_log_and_ships_the_rest(
    hire: Callable[[], Worker], tmp_path: Path
) -> None:
    first, store = hire(), FileLogStore(tmp_path / "store")
    await first.attempts.open()
    program = await first.start()
    first.runner._events.put_nowait(first.runner._begun(program))
    print_in(program, "before\n")
    await Shipper(IntoStore(store), first.outbox, first.attempts.known).tick()
    for pump in first.attempts._pumps:
        pump.cancel()
    second: Any = hire()
    await second.attempts.open()
    shipper = Shipper(IntoStore(store), second.outbox, second.attempts.known)
    await shipper.tick()
    print_in(program, "last words\n")
    ended = await second.end(program, exit_code=1)
    assert ended.message == "exit code 1: last words"
    await shipper.tick()
    name = ended.log_path
    assert name is not None
    assert (store.read(name, 0, 99)[0], store.is_finished(name)) == (b"before\nlast words\n", True)
