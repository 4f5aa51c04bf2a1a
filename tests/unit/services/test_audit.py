"""From a call to the table: journals that survive their process, lines that arrive once, and what may go wrong."""

import logging
import os
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from waterclock import clock
from waterclock.domain.audit import NOBODY, Entry, Sought, fit
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.services.audit import journal as journal_module
from waterclock.services.audit import storing as storing_module
from waterclock.services.audit.codec import entry_of, line_of
from waterclock.services.audit.journal import Journal, read_lines, taken_over
from waterclock.services.audit.recording import STRANGERS, Recorder
from waterclock.services.audit.storing import Storing
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops import audit as ops
from waterclock.stores.ops.reading import FROM_THE_NEWEST

CALL = Entry(
    at=1_000,
    org_id=1,
    user="ann",
    address="127.0.0.1",
    face="glue",
    action="GetJob",
    resource='a\\b "c" 물시계',
    status=200,
    error=None,
    ms=3,
    request_id="0",
)


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield database
    await database.close()


class Process:
    """What one process that serves has."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.journal = Journal(folder)
        self.recorder = Recorder(self.journal)
        self.storing = Storing(database, self.journal, self.recorder)

    def record(self, *numbers: int, **changed: Any) -> None:
        for number in numbers:
            self.recorder.record(replace(CALL, request_id=str(number), **changed))

    def die(self) -> None:
        """As at kill -9: the file is closed and nothing else is done."""
        self.journal.let_go()


class Faulty:
    """A database whose next writes fail, before or after they were made."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.read = database.read
        self.faults: list[str] = []

    async def write(self, operation: Any, **values: Any) -> Any:
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "before":
            raise Unavailable("gone")
        answer = await self._database.write(operation, **values)
        if fault == "after":
            raise CommitUnknown("the answer was lost")
        return answer


async def stored(database: Database, org_id: int = 1) -> list[str]:
    kept = await database.read(ops.list_audit, org_id=org_id, sought=Sought(), before=FROM_THE_NEWEST, limit=10_000)
    return [each.entry.request_id for each in kept][::-1]


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_an_entry_is_one_line_and_reads_back_the_same() -> None:
    odd = replace(CALL, resource="a\nb\x00c\u2028", error="x")
    line = line_of(odd)
    assert (line.count(b"\n"), line.endswith(b"\n")) == (1, True)
    assert entry_of(line_of(CALL)) == CALL
    assert entry_of(line) == replace(odd, resource="a?b?c?")


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[1,2]", b"[1,2,3,4,5,6,7,8,9,10,11]", b"\xff", line_of(replace(CALL, at=-1)), b"null"]
)
def test_a_line_that_is_no_entry_is_none(line: bytes) -> None:
    assert entry_of(line) is None


def test_whatever_stands_in_a_line_fits_a_row() -> None:
    long = entry_of(line_of(replace(CALL, resource="x" * 9_000, face="f" * 99, ms=2**40, error="e" * 99)))
    assert long is not None
    assert (len(long.resource), long.resource[-1], len(long.face), long.ms) == (255, "…", 16, 2**31 - 1)
    assert len(long.error or "") == 64
    assert fit("a\tb") == "a?b"


async def test_what_was_recorded_is_stored_once(tmp_path: Path, database: Database) -> None:
    process = Process(tmp_path / "audit", database)
    assert await process.storing.tick() == storing_module.REST_SECONDS
    process.record(1, 2, 3)
    await process.storing.tick()
    assert await stored(database) == ["1", "2", "3"]
    process.record(4)
    for _ in range(2):
        await process.storing.tick()
    assert await stored(database) == ["1", "2", "3", "4"]
    (journal,) = files(tmp_path / "audit")
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.parent.stat().st_mode) == 0o700


async def test_a_journal_left_by_a_dead_process_is_taken_over(tmp_path: Path, database: Database) -> None:
    dead = Process(tmp_path, database)
    dead.record(1, 2)
    await dead.storing.tick()
    dead.record(3, 4)
    dead.die()
    after = Process(tmp_path, database)
    await after.storing.tick()
    assert await stored(database) == ["1", "2", "3", "4"]
    assert files(tmp_path) == []
    await after.storing.tick()
    assert len(await stored(database)) == 4


async def test_a_journal_that_is_being_written_is_left_alone(tmp_path: Path, database: Database) -> None:
    one, two = Process(tmp_path, database), Process(tmp_path, database)
    one.record(1)
    await two.storing.tick()
    assert await stored(database) == []
    two.record(2)
    await one.storing.tick()
    await two.storing.tick()
    assert sorted(await stored(database)) == ["1", "2"]
    assert len(files(tmp_path)) == 2


def test_a_journal_is_taken_over_by_one_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.journal"
    path.write_bytes(line_of(CALL))
    with taken_over(path) as first, taken_over(path) as second:
        assert (first, second) == (True, False)
    with taken_over(tmp_path / "gone.journal") as gone:
        assert not gone

    def finished_meanwhile(fd: int) -> bool:
        path.unlink()
        return True

    monkeypatch.setattr(journal_module, "_locked", finished_meanwhile)
    with taken_over(path) as late:
        assert not late


@pytest.mark.parametrize("fault", ["before", "after"])
async def test_a_lost_answer_loses_nothing_and_doubles_nothing(tmp_path: Path, database: Database, fault: str) -> None:
    faulty: Any = Faulty(database)
    process = Process(tmp_path, faulty)
    process.record(1, 2)
    faulty.faults = [fault, "", fault]
    with pytest.raises(Unavailable):
        await process.storing.tick()
    process.record(3)
    await process.storing.tick()
    process.record(4)
    with pytest.raises(Unavailable):
        await process.storing.tick()
    await process.storing.tick()
    assert await stored(database) == ["1", "2", "3", "4"]


async def test_calls_go_on_while_the_store_is_away(tmp_path: Path, database: Database) -> None:
    faulty: Any = Faulty(database)
    process = Process(tmp_path, faulty)
    for number in range(10):
        process.record(number)
        faulty.faults = ["before"]
        with pytest.raises(Unavailable):
            await process.storing.tick()
    await process.storing.close()
    assert await stored(database) == [str(number) for number in range(10)]
    assert files(tmp_path) == []


async def test_a_crash_between_removing_a_journal_and_forgetting_it_doubles_nothing(
    tmp_path: Path, database: Database
) -> None:
    faulty: Any = Faulty(database)
    dead = Process(tmp_path, database)
    dead.record(1)
    dead.die()
    faulty.faults = ["", "before"]  # stored, but not forgotten
    with pytest.raises(Unavailable):
        await Process(tmp_path, faulty).storing.tick()
    await Process(tmp_path, database).storing.tick()
    assert (await stored(database), files(tmp_path)) == (["1"], [])


async def test_a_large_journal_makes_room_for_a_new_one(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing_module, "LARGE_BYTES", 1_000)
    monkeypatch.setattr(storing_module, "BATCH_BYTES", 300)  # less than three lines
    process = Process(tmp_path, database)
    process.record(*range(20))
    (first,) = files(tmp_path)
    await process.storing.tick()
    assert files(tmp_path) == []
    process.record(20)
    await process.storing.tick()
    assert await stored(database) == [str(number) for number in range(21)]
    assert files(tmp_path) != [first]


async def test_a_line_cut_short_by_a_crash_is_left_out_and_told(
    tmp_path: Path, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    lines = line_of(CALL) + b"no entry\n" + line_of(replace(CALL, request_id="1")) + line_of(CALL)[:20]
    (tmp_path / "dead.journal").write_bytes(lines)
    await Process(tmp_path, database).storing.tick()
    assert await stored(database) == ["0", "1"]
    assert "1 lines of dead.journal are no entries" in caplog.text
    assert "the last line of dead.journal is cut short" in caplog.text
    assert files(tmp_path) == []


def test_a_stretch_without_an_end_is_passed_by(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"x" * 250 + b"\n" + b"y\n")
    assert read_lines(path, 0, 100).end == 100
    assert read_lines(path, 200, 100).lines == [b"x" * 50, b"y"]


def test_a_disk_that_is_full_fails_no_call_and_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path)
    recorder = Recorder(journal)
    recorder.record(CALL)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:10]))  # what fits
    for _ in range(3):
        recorder.record(CALL)
    monkeypatch.setattr(os, "write", real)
    recorder.record(replace(CALL, request_id="after"))
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert "calls go on without it" in caplog.records[0].getMessage()
    assert "3 calls are missing" in caplog.records[1].getMessage()
    (path,) = files(tmp_path)
    entries = [entry_of(line) for line in read_lines(path, 0, 10_000).lines]
    assert [entry.request_id for entry in entries if entry] == ["0", "after"]


def test_a_folder_that_cannot_be_written_fails_no_call(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    recorder = Recorder(Journal(blocked / "audit"))
    recorder.record(CALL)
    assert "cannot be written" in caplog.text


async def test_a_flood_of_strangers_is_counted_not_kept(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    process = Process(tmp_path, database)
    process.record(*range(STRANGERS + 7), org_id=NOBODY)
    process.record(1, 2)  # whom we know is never passed over
    await process.storing.tick()
    assert len(await stored(database, NOBODY)) == STRANGERS
    now = 101.0
    await process.storing.tick()
    await process.storing.tick()
    (flood, *_) = await database.read(
        ops.list_audit, org_id=NOBODY, sought=Sought(action="refused"), before=FROM_THE_NEWEST, limit=10
    )
    assert flood.entry.resource == "7 more calls"
    assert len(await stored(database, NOBODY)) == STRANGERS + 1
    assert await stored(database) == ["1", "2"]
    process.record(1, org_id=NOBODY)
    await process.storing.tick()
    assert len(await stored(database, NOBODY)) == STRANGERS + 2
