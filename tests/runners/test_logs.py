"""Logs are read by offset as whole characters, while they grow and when they are broken."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput
from waterclock.domain.masking import Masks
from waterclock.runners import logs
from waterclock.runners.logs import LocalLog

TEXT = "Xin chào, 한국어 😀\n" * 50


def read_all(path: Path, limit: int, *, is_finished: bool = True) -> str:
    text, offset = "", 0
    while True:
        chunk = logs.read(LocalLog(path=path), offset, limit, is_finished=is_finished)
        text, offset = text + chunk.text, chunk.next_offset
        if chunk.at_end or not chunk.text:
            return text


@pytest.mark.parametrize("limit", [1, 4, 5, 7, 64, 10_000])
def test_no_chunk_splits_a_character(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "log"
    path.write_text(TEXT)
    assert read_all(path, limit) == TEXT


@given(data=st.binary(max_size=200), limit=st.integers(4, 50))
def test_any_bytes_read_in_pieces_give_the_same_text_as_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, limit: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-log"
    path.write_bytes(data)
    assert read_all(path, limit) == data.decode(errors="replace")


def test_a_character_that_is_not_complete_waits_while_the_log_grows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes("ab😀".encode()[:-1])
    growing = logs.read(LocalLog(path=path), 0, is_finished=False)
    assert (growing.text, growing.next_offset, growing.at_end) == ("ab", 2, False)
    assert logs.read(LocalLog(path=path), 0).text == "ab�"
    path.write_bytes("ab😀".encode())
    assert logs.read(LocalLog(path=path), growing.next_offset).text == "😀"


def test_a_log_that_is_not_there_and_an_offset_past_the_end_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert logs.read(LocalLog(path=path)) == logs.Chunk(text="", next_offset=0, at_end=True)
    path.write_text("abc")
    for offset in (100, 2**44, 2**62):  # further than the file system could seek, too
        assert logs.read(LocalLog(path=path), offset) == logs.Chunk(text="", next_offset=offset, at_end=True)
    with pytest.raises(InvalidInput, match="offset: must not be negative"):
        logs.read(LocalLog(path=path), -1)


@pytest.mark.parametrize("characters", [0, 1, 3, 14, 15, 1000])
def test_the_tail_is_the_last_characters(tmp_path: Path, characters: int) -> None:
    path = tmp_path / "log"
    path.write_text(TEXT)
    assert logs.tail(LocalLog(path=path), characters) == (TEXT[-characters:] if characters else "")
    assert logs.tail(LocalLog(path=tmp_path / "none"), characters) == ""


def test_a_path_that_leads_out_of_the_log_folder_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    root.mkdir()
    (tmp_path / "secret").write_text("no")
    (root / "link").symlink_to(tmp_path / "secret")
    for path in ("../secret", "link", "/etc/passwd", "a\0b"):
        with pytest.raises(InvalidInput):
            logs.inside(root, Path(path))
    assert logs.inside(root, Path("2026/1.log")) == root / "2026/1.log"


async def test_a_growing_log_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    seen: list[str] = []
    finished = False

    async def reader() -> None:
        async for chunk in logs.follow(LocalLog(path=path), 0, lambda: finished):
            seen.append(chunk.text)

    task = asyncio.create_task(reader())
    for part in ("한".encode()[:1], "한".encode()[1:] + b"\n", b"two\n"):
        with path.open("ab") as file:
            file.write(part)
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        while "".join(seen) != "한\ntwo\n":
            await asyncio.sleep(0.01)
        finished = True
        await task


@given(
    text=st.text("ab é\n😀", max_size=60),
    secrets=st.lists(st.text("ab é\n", min_size=4, max_size=8).filter(str.strip), min_size=1, max_size=3),
    limit=st.integers(4, 20),
)
def test_a_log_with_secrets_read_in_pieces_is_the_masked_whole(
    tmp_path_factory: pytest.TempPathFactory, text: str, secrets: list[str], limit: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "secret-log"
    path.write_text(text)
    masks = Masks.of(secrets)
    shown, offset = "", 0
    while not (chunk := logs.read(LocalLog(path=path), offset, limit, masks=masks)).at_end:
        assert chunk.next_offset > offset
        shown, offset = shown + chunk.text, chunk.next_offset
    shown += chunk.text
    assert shown == masks.text(text)
    assert not [secret for secret in secrets if secret in shown]


def test_a_log_that_may_go_on_with_a_secret_stops_before_it(tmp_path: Path) -> None:
    path, masks = tmp_path / "log", Masks.of(["hunter2"])
    path.write_text("it is hunt")
    growing = logs.read(LocalLog(path=path), 0, is_finished=False, masks=masks)
    assert (growing.text, growing.next_offset, growing.at_end) == ("it is ", 6, False)
    path.write_text("it is hunter2\n")
    assert logs.read(LocalLog(path=path), growing.next_offset, is_finished=False, masks=masks).text == "***\n"
    path.write_text("it is hunt")
    assert logs.read(LocalLog(path=path), growing.next_offset, masks=masks).text == "hunt"


@pytest.mark.parametrize("offset", range(6, 14))
def test_a_page_that_begins_or_ends_inside_a_secret_shows_nothing_of_it(tmp_path: Path, offset: int) -> None:
    path, masks = tmp_path / "log", Masks.of(["hunter2"])
    path.write_text("it is hunter2, is it?")
    before, after = (
        logs.read(LocalLog(path=path), 0, offset, masks=masks),
        logs.read(LocalLog(path=path), offset, masks=masks),
    )
    assert before.text + after.text == "it is ***, is it?"
    assert before.next_offset == offset


def test_the_tail_of_a_log_has_no_half_of_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("x" * 50 + "hunter2" * 3 + "end")
    for characters in range(1, 20):
        assert not set(logs.tail(LocalLog(path=path), characters, Masks.of(["hunter2"]))) & set("hutr2")


async def test_a_followed_log_is_masked_and_goes_on_behind_what_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("a" + "hunter2" * 20 + "z\n")
    chunks = [
        chunk async for chunk in logs.follow(LocalLog(path=path), 0, lambda: True, limit=8, masks=Masks.of(["hunter2"]))
    ]
    assert "".join(chunk.text for chunk in chunks) == "a***z\n"
