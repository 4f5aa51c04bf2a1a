"""Lines are found by their bytes: all of them, once, forwards and backwards, whatever a log holds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.runners import log_lines
from waterclock.runners.log_lines import lines_after, lines_before
from waterclock.runners.logs import LocalLog

pieces = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", "물".encode(), "😀".encode(), b"\xff", b"\x80" * 5]), max_size=60
)


def forwards(path: Path, most: int, *, is_finished: bool = True) -> list[bytes]:
    data, found, offset = path.read_bytes(), list[bytes](), 0
    while (span := lines_after(LocalLog(path=path), offset, most, is_finished=is_finished)).starts:
        assert len(span.starts) <= most
        assert span.starts[0] == offset
        found += [data[a:b] for a, b in zip(span.starts, (*span.starts[1:], span.end), strict=True)]
        assert span.end > offset
        offset = span.end
    return found


def backwards(path: Path, most: int, *, is_finished: bool = True) -> list[bytes]:
    data, found = path.read_bytes(), list[bytes]()
    offset: int | None = None
    while (span := lines_before(LocalLog(path=path), offset, most, is_finished=is_finished)).starts:
        assert len(span.starts) <= most
        assert offset in (None, span.end)
        found[:0] = [data[a:b] for a, b in zip(span.starts, (*span.starts[1:], span.end), strict=True)]
        assert offset is None or span.starts[0] < offset
        offset = span.starts[0]
    return found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "CHUNK_BYTES", 40)
    monkeypatch.setattr(log_lines, "LONGEST_LINE_BYTES", 10)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("most", [1, 2, 1000])
@given(written=pieces)
def test_both_ways_every_byte_is_in_one_line_and_short_lines_are_whole(
    tmp_path_factory: pytest.TempPathFactory, most: int, written: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"lines-{most}"
    path.write_bytes(data := b"".join(written))
    for found in (forwards(path, most), backwards(path, most)):
        assert b"".join(found) == data
        assert all(0 < len(line) <= 10 for line in found)
        short = [line for line in data.splitlines(keepends=True) if len(line) <= 10] if b"\r" not in data else []
        assert [line for line in short if line not in found] == []


@pytest.mark.usefixtures("small")
def test_a_line_that_is_cut_is_not_cut_within_a_character(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("😀" * 7 + "\nend\n")
    for found in (forwards(path, 10), backwards(path, 10)):
        assert "".join(line.decode() for line in found) == "😀" * 7 + "\nend\n"


def test_a_line_that_is_still_written_is_left_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\nthr")
    for read in (forwards, backwards):
        assert read(path, 10, is_finished=False) == [b"one\n", b"two\n"]
        assert read(path, 10, is_finished=True) == [b"one\n", b"two\n", b"thr"]


def test_a_log_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    for finished in (True, False):
        assert lines_after(LocalLog(path=tmp_path / "none"), 0, 10, is_finished=finished).starts == ()
        assert lines_before(LocalLog(path=tmp_path / "none"), None, 10, is_finished=finished).starts == ()
        assert lines_after(LocalLog(path=tmp_path / "none"), 99, 10, is_finished=finished).end == 99
