"""Log stores, each in the same suite: what was shipped is there once, whoever repeats it or dies in the middle."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.services.s3 import S3Server
from waterclock.domain.errors import InvalidInput, Unavailable
from waterclock.runners import log_parts, log_store_s3
from waterclock.runners.log_store import FileLogStore, LogStore, StoredLog, take
from waterclock.runners.log_store_s3 import PATIENCE, S3LogStore
from waterclock.runners.logs import read
from waterclock.runners.s3_connection import S3Connection

BUCKET = "logs"
NAME = "2026-11-16/jr_1.log"
PIECES = [f"{number} 물시계\n".encode() * number for number in range(1, 8)]
TEXT = b"".join(PIECES)


class Killed(BaseException):
    """A `kill -9` of whoever writes."""


class Kit:
    """One kind of store: another process opens it anew, and can be made to die before one of its steps."""

    def __init__(self, open_store: Callable[[], LogStore], interrupt: Callable[[Callable[[], None]], None]) -> None:
        self._open = open_store
        self._interrupt = interrupt
        self.steps = 0

    def open(self, *, dies_before: int = 10**9) -> LogStore:
        store = self._open()
        self.steps = 0

        def step() -> None:
            self.steps += 1
            if self.steps == dies_before:
                raise Killed

        self._interrupt(step)
        return store


@pytest.fixture(params=["file", "s3"])
def kit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kit:
    if request.param == "s3":
        return Kit(request.getfixturevalue("in_bucket"), request.getfixturevalue("dying"))
    return Kit(lambda: FileLogStore(tmp_path / "logs"), lambda step: _before_every_change(monkeypatch, step))


@pytest.fixture
def in_bucket(s3: S3Server, bucket: Any, connection: S3Connection) -> Callable[[], S3LogStore]:
    """All of them share a connection: to make one takes longer than a test."""
    place = f"s3://{BUCKET}/운영/{uuid.uuid4()}"

    def make() -> S3LogStore:
        store = S3LogStore(place, endpoint=s3.endpoint_url, region=s3.region)
        store._connection = connection
        return store

    return make


@pytest.fixture(scope="module")
def connection(s3_server: S3Server) -> Iterator[S3Connection]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
        patched.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
        yield S3Connection(endpoint=s3_server.endpoint_url, region=s3_server.region, patience=PATIENCE)


@pytest.fixture(scope="module")
def bucket(s3_server: S3Server) -> Iterator[Any]:
    client = s3_server.client()
    client.create_bucket(Bucket=BUCKET)
    yield client
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for each in page.get("Contents", ()):
            client.delete_object(Bucket=BUCKET, Key=each["Key"])
    client.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def dying(connection: S3Connection) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Calls what it is given before every call that changes something; once it is called again, the other."""
    steps: list[Callable[[], None]] = [lambda: None]
    events = connection.client().meta.events

    def before(**event: Any) -> None:
        if event["event_name"].rpartition(".")[2].startswith(("Put", "Delete", "Create", "Upload", "Complete")):
            steps[-1]()

    events.register("before-call.s3", before)
    yield steps.append
    events.unregister("before-call.s3", before)


def _before_every_change(monkeypatch: pytest.MonkeyPatch, step: Callable[[], None]) -> None:
    def stepping(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*args: Any, **more: Any) -> Any:
            step()
            return change(*args, **more)

        return changed

    monkeypatch.undo()
    for place, name in ((os, "open"), (os, "pwrite"), (os, "fsync"), (Path, "rename"), (Path, "mkdir")):
        monkeypatch.setattr(place, name, stepping(getattr(place, name)))


def _killed(**_: Any) -> None:
    raise Killed


def test_what_is_appended_is_read_at_any_offset(kit: Kit) -> None:
    store, at = kit.open(), 0
    for piece in PIECES:
        at = store.append(NAME, at, piece)
    for is_finished in (False, True):
        for offset in (0, 12, len(TEXT) - 1, len(TEXT) + 5):
            for limit in (0, 13, len(TEXT) + 9):
                assert store.read(NAME, offset, limit) == (TEXT[offset : offset + limit], len(TEXT))
        assert store.is_finished(NAME) is is_finished
        store.finish(NAME)
    assert read(StoredLog(store, NAME)).text == TEXT.decode()


def test_a_piece_that_comes_twice_is_written_once(kit: Kit) -> None:
    store = kit.open()
    assert store.append(NAME, 0, b"one") == 3
    assert store.append(NAME, 0, b"one") == 3
    assert store.append(NAME, 0, b"one two") == 7
    assert store.append(NAME, 4, b"tw") == 7
    assert kit.open().append(NAME, 3, b" two three") == 13
    assert store.read(NAME, 0, 99) == (b"one two three", 13)


def test_a_piece_behind_a_gap_is_not_taken(kit: Kit) -> None:
    store = kit.open()
    assert store.append(NAME, 5, b"later") == 0
    assert store.append(NAME, 0, b"one") == 3
    assert take(store, NAME, 5, b"later", last=True) == 3
    assert store.read(NAME, 0, 99) == (b"one", 3)
    assert not store.is_finished(NAME)


def test_a_finished_log_takes_no_more_and_may_be_finished_again(kit: Kit) -> None:
    store = kit.open()
    assert take(store, NAME, 0, b"one", last=True) == 3
    assert kit.open().append(NAME, 3, b" two") == 3
    assert take(kit.open(), NAME, 0, b"one", last=True) == 3
    assert store.read(NAME, 0, 99) == (b"one", 3)
    assert store.is_finished(NAME)


def test_a_log_without_a_word_can_be_finished(kit: Kit) -> None:
    store = kit.open()
    assert (store.read(NAME, 0, 9), store.size(NAME), store.is_finished(NAME)) == ((b"", 0), 0, False)
    assert take(store, NAME, 0, b"", last=True) == 0
    assert (store.read(NAME, 0, 9), store.size(NAME), store.is_finished(NAME)) == ((b"", 0), 0, True)


def test_logs_are_removed_finished_or_not(kit: Kit) -> None:
    store = kit.open()
    names = [f"2026-11-16/jr_{number}.log" for number in range(3)]
    for name in names:
        store.append(name, 0, b"one")
    store.finish(names[0])
    store.remove([*names[:2], "2026-11-17/jr_9.log"])
    assert [store.size(name) for name in names] == [0, 0, 3]
    assert not store.is_finished(names[0])


def test_a_name_that_leads_elsewhere_is_refused(kit: Kit) -> None:
    store = kit.open()
    calls: tuple[Callable[[str], object], ...] = (
        lambda name: store.append(name, 0, b"x"),
        lambda name: store.read(name, 0, 1),
        store.finish,
        store.is_finished,
        lambda name: store.remove([name]),
        lambda name: StoredLog(store, name),
    )
    for name in ("../x", "/etc/passwd", "a/../../x", "a//b", "a/./b", "", "a\0b"):
        for call in calls:
            with pytest.raises(InvalidInput):
                call(name)


def test_whoever_is_killed_at_any_step_leaves_a_readable_log_that_the_next_one_completes(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (log_parts, log_store_s3):
        monkeypatch.setattr(module, "MOST_SMALL", 2)
    step, survived = 0, False
    while not survived:
        step += 1
        name = f"2026-11-16/jr_{step}.log"
        told = 0
        try:
            store = kit.open(dies_before=step)
            while told < len(TEXT):
                told = store.append(name, told, TEXT[told : told + 150])
            store.finish(name)
            survived = True
        except Killed:
            pass
        following = kit.open()
        shown, size = following.read(name, 0, len(TEXT) + 1)
        assert shown == TEXT[:size]
        assert size >= told
        take(following, name, size, TEXT[size:], last=True)
        assert following.read(name, 0, len(TEXT) + 1) == (TEXT, len(TEXT))
        assert following.is_finished(name)
    assert step > 3


def test_a_folder_that_cannot_be_written_is_said_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "logs").touch()
    with pytest.raises(Unavailable, match=r"the log store .*/logs \(setting logs.store\): .*Not a directory"):
        FileLogStore(tmp_path / "logs").append(NAME, 0, b"x")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "secret").write_text("no")
    (tmp_path / "logs/link.log").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidInput, match="leads out of the log folder"):
        FileLogStore(tmp_path / "logs").read("link.log", 0, 9)


def test_a_bucket_that_is_not_there_is_said(in_bucket: Callable[[], S3LogStore]) -> None:
    store = S3LogStore("s3://nowhere/x", endpoint="", region="")
    store._connection = in_bucket()._connection
    with pytest.raises(Unavailable, match=r"s3://nowhere/x \(setting logs.store\): .*bucket"):
        store.append(NAME, 0, b"x")


def test_a_log_that_grows_slowly_has_few_parts(
    in_bucket: Callable[[], S3LogStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (log_parts, log_store_s3):
        monkeypatch.setattr(module, "MOST_SMALL", 4)
    monkeypatch.setattr(log_parts, "FULL_BYTES", 64)
    store = in_bucket()
    most = 0
    for at in range(0, 200, 10):
        assert store.append(NAME, at, b"0123456789") == at + 10
        most = max(most, len(store._parts(store._connection.client(), NAME)))
    assert most <= 200 // 64 + 5
    assert store.read(NAME, 0, 999) == (b"0123456789" * 20, 200)


def test_a_late_repetition_of_a_shorter_piece_takes_nothing_away(in_bucket: Callable[[], S3LogStore]) -> None:
    """It was listed before the longer one was put, and is put after it."""
    store = in_bucket()
    client = store._connection.client()
    store.append(NAME, 0, b"one two")
    store.append(NAME, 7, b" three")
    store._add(client, NAME, [], [], b"one")
    assert in_bucket().append(NAME, 0, b"one") == 13
    store.finish(NAME)
    assert store.read(NAME, 0, 99) == (b"one two three", 13)
    assert list(store._listed(client, store._growing(NAME))) == []


def test_a_long_log_is_merged_in_blocks_also_after_a_kill(
    in_bucket: Callable[[], S3LogStore], bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_store_s3, "BLOCK_BYTES", 5 * 1024 * 1024)
    line = b"0123456789abcdef" * 65_536
    store, data = in_bucket(), line * 11
    for at in range(0, len(data), len(line)):
        store.append(NAME, at, line)
    with monkeypatch.context() as patched:
        patched.setattr(store._connection.client(), "complete_multipart_upload", _killed)
        with pytest.raises(Killed):
            store.finish(NAME)
    following = in_bucket()
    assert not following.is_finished(NAME)
    monkeypatch.setattr(log_store_s3, "ABANDONED_SECONDS", -3600)
    following.finish(NAME)
    assert following.read(NAME, len(data) - 9, 99) == (data[-9:], len(data))
    assert following.read(NAME, 0, len(data))[0] == data
    assert not bucket.list_multipart_uploads(Bucket=BUCKET).get("Uploads")
