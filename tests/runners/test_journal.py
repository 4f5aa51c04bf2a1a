"""The journal: what its lines leave is what a successor knows."""

import os
from pathlib import Path

import pytest

from waterclock.runners.base import Begun, End, Ended
from waterclock.runners.proc import Process
from waterclock.runners.supervisor import journal
from waterclock.runners.supervisor.journal import Journal

BEGUN = Begun(attempt_id=1, fence=7, pid=10, pid_started_at=99)
ENDED = Ended(attempt_id=1, fence=7, end=End.EXITED, exit_code=0, cpu_seconds=0.25, peak_rss_bytes=4096)


def written(path: Path) -> Journal:
    book = Journal(path, "boot-1")
    book.begin_anew([])
    book.add(journal.started(1, 7, ["A=b"]))
    book.add(journal.given(1, Process(5, 50)))
    book.add(journal.begun(BEGUN))
    book.add(journal.started(2, 1, []))
    book.flush()
    return book


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    book = written(tmp_path / "journal")
    book.add(journal.ended(ENDED))
    book.flush()
    past = Journal.read(tmp_path / "journal")
    one = past.traces[1]
    assert past.boot == "boot-1"
    assert (one.fence, one.token, one.keeper, one.begun, one.ended) == (7, ["A=b"], Process(5, 50), BEGUN, ENDED)
    assert past.traces[2].ended is None
    book.close()


def test_what_was_forgotten_is_not_there(tmp_path: Path) -> None:
    book = written(tmp_path / "journal")
    book.add(journal.forgotten([1, 3]))
    book.flush()
    assert list(Journal.read(tmp_path / "journal").traces) == [2]
    book.close()


def test_lines_that_were_not_flushed_and_a_torn_line_never_happened(tmp_path: Path) -> None:
    book = written(tmp_path / "journal")
    book.add(journal.ended(ENDED))
    with (tmp_path / "journal").open("a") as file:
        file.write('{"ended": {"attempt')
    assert Journal.read(tmp_path / "journal").traces[1].ended is None
    book.close()


def test_a_journal_that_begins_anew_holds_only_what_it_is_given(tmp_path: Path) -> None:
    book = written(tmp_path / "journal")
    book.begin_anew([journal.started(9, 1, [])])
    book.add(journal.started(10, 1, []))
    book.flush()
    assert list(Journal.read(tmp_path / "journal").traces) == [9, 10]
    book.close()


def test_a_full_disk_loses_no_line(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    book = written(path)
    book.add(journal.ended(ENDED))
    real, book._fd = book._fd, os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(OSError, match="No space left"):
        book.flush()
    os.write(real, b'{"ended": {"a')  # what fitted
    os.close(book._fd)
    book._fd = real
    book.flush()
    assert Journal.read(path).traces[1].ended == ENDED
    book.close()


def test_no_journal_is_no_past(tmp_path: Path) -> None:
    assert dict(Journal.read(tmp_path / "none").traces) == {}
