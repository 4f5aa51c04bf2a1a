"""Blocks of whole records, and the lines at which they begin."""

import pytest

from tests.runners.sync.streams import Bytes
from waterclock.runners.sync.formats.records import Block, Dialect, blocks
from waterclock.runners.sync.source import SourceFailed

CSV = Dialect(separator=",", quote='"')


def read(data: bytes, size: int, dialect: Dialect = CSV) -> list[Block]:
    return list(blocks(Bytes(data), dialect, "a.csv", size=size))


@pytest.mark.parametrize("size", range(1, 40))
def test_a_record_is_never_split_and_knows_its_line(size: int) -> None:
    data = b'a,"x\ny""\n",1\r\n"",b"c\n\n5" pipe,"q"tail\n"last'.replace(b'"last', b"last")
    found = read(data, size)
    assert b"".join(block.data for block in found) == data + b"\n"
    records = [record for block in found for record in CSV.split(block)]
    assert [(record.line, record.data) for record in records] == [
        (1, b'a,"x\ny""\n",1\r\n'),
        (4, b'"",b"c\n'),
        (5, b"\n"),
        (6, b'5" pipe,"q"tail\n'),
        (7, b"last\n"),
    ]


@pytest.mark.parametrize("breaks", [b"\n", b"\r\n", b"\r"])
def test_every_line_break_is_one(breaks: bytes) -> None:
    found = [record for block in read(breaks.join([b"1,a", b"2,b", b"3,c"]), 4) for record in CSV.split(block)]
    assert [(record.line, record.data.strip()) for record in found] == [(1, b"1,a"), (2, b"2,b"), (3, b"3,c")]


def test_a_quote_that_is_never_closed_is_known() -> None:
    *_, last = read(b'1,a\n2,"b\n3,c\n', 5)
    assert (last.line, last.is_open) == (2, True)


def test_a_record_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waterclock.runners.sync.formats.records.LONGEST", 64)
    with pytest.raises(SourceFailed, match=r"^a.csv, line 2: it has no end within 64 bytes: is a quote not closed"):
        read(b'1,a\n2,"' + b"x\n" * 100, 16)


def test_what_is_escaped_ends_nothing() -> None:
    dialect = Dialect(separator=",", quote='"', escape="\\")
    data = b'1,"a\\"\n"\n2,b\\\nc\n3,d\n'
    found = [record.data for block in read(data, 7, dialect) for record in dialect.split(block)]
    assert found == [b'1,"a\\"\n"\n', b"2,b\\\nc\n", b"3,d\n"]


def test_without_quotes_a_line_is_a_record() -> None:
    assert [block.data for block in read(b'a"b\nc\n', 4, Dialect(separator=",", quote=""))] == [b'a"b\n', b"c\n"]
