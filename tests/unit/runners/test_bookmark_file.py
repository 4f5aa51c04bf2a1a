"""What a program may have done to its bookmark file, and what is made of it."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from waterclock.domain.bookmark import MOST_BYTES, Left
from waterclock.runners.bookmark_file import path_in, place, take

MADE_AT = 1_790_000_000_123_457


def test_a_program_finds_the_bookmark_in_a_file_of_its_own(tmp_path: Path) -> None:
    place(tmp_path, '{"day": "물시계"}', MADE_AT)
    assert path_in(tmp_path).read_text() == '{"day": "물시계"}'
    assert path_in(tmp_path).stat().st_mode & 0o777 == 0o600


def test_what_the_program_wrote_is_taken(tmp_path: Path) -> None:
    place(tmp_path, "1", MADE_AT)
    path_in(tmp_path).write_text("2 물시계")
    assert take(tmp_path, MADE_AT) == Left(content="2 물시계")


def test_what_it_put_in_the_place_of_the_file_is_taken(tmp_path: Path) -> None:
    place(tmp_path, "1", MADE_AT)
    (tmp_path / "new").write_text("2")
    (tmp_path / "new").rename(path_in(tmp_path))
    assert take(tmp_path, MADE_AT) == Left(content="2")


def test_a_first_bookmark_is_taken(tmp_path: Path) -> None:
    path_in(tmp_path).write_text("")
    assert take(tmp_path, MADE_AT) == Left(content="")


def test_a_file_that_was_not_touched_says_nothing(tmp_path: Path) -> None:
    place(tmp_path, "1", MADE_AT)
    path_in(tmp_path).read_text()
    assert take(tmp_path, MADE_AT) == Left()


def test_a_file_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert take(tmp_path, MADE_AT) == Left()
    assert take(tmp_path / "gone", MADE_AT) == Left()


def test_an_earlier_try_is_replaced_and_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    path_in(tmp_path).symlink_to(precious)
    place(tmp_path, "1", MADE_AT)
    place(tmp_path, "2", MADE_AT)
    assert precious.read_text() == "keep me"
    assert path_in(tmp_path).read_text() == "2"


def _link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (_link, "it is a link"),
        (os.mkfifo, "it is not a file of its own"),
        (Path.mkdir, "it is not a file of its own"),
        (_socket, "it cannot be read"),
        (_sparse, f"it has {1 << 40} bytes; the most is {MOST_BYTES}"),
        (lambda path: path.write_bytes(b"x" * (MOST_BYTES + 1)), f"it has {MOST_BYTES + 1} bytes"),
        (lambda path: path.write_bytes(b"a\xff"), "it is not UTF-8"),
        (lambda path: path.write_bytes(b"a\0b"), "it holds a NUL"),
    ],
)
def test_what_cannot_be_a_bookmark_is_refused_with_the_reason(
    tmp_path: Path, prepare: Callable[[Path], object], reason: str
) -> None:
    prepare(path_in(tmp_path))
    left = take(tmp_path, MADE_AT)
    assert left.content is None
    assert left.refused is not None
    assert left.refused.startswith(reason)


def test_the_largest_that_fits_is_taken(tmp_path: Path) -> None:
    path_in(tmp_path).write_bytes(b"x" * MOST_BYTES)
    assert take(tmp_path, MADE_AT) == Left(content="x" * MOST_BYTES)


def test_a_file_of_another_user_is_not_the_programs(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path_in(tmp_path).write_text("root:x:0:0")
    os.chown(path_in(tmp_path), 12345, -1)
    assert take(tmp_path, MADE_AT) == Left(refused="it is not a file of its own")
    os.chown(tmp_path, 12345, -1)
    assert take(tmp_path, MADE_AT) == Left(content="root:x:0:0")
    place(tmp_path, "2", MADE_AT)
    assert path_in(tmp_path).stat().st_uid == 12345
