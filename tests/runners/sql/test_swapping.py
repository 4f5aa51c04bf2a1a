"""A result and what was there before: whoever dies, and wherever, a reader finds one of the two, as a whole."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from waterclock.runners.sql.folder import Mode, Sink
from waterclock.runners.sql.how import How
from waterclock.runners.sql.local import LocalTree
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.places import place_of
from waterclock.runners.sql.swapping import SwappedFolder, Tree

NAME = "abc"
T = TypeVar("T")


class Died(BaseException):
    """kill -9, as far as a thread can have it: nothing of ours catches it."""


class Mortal:
    """A tree that is there for so many calls, and dies before or after the last of them."""

    def __init__(self, tree: Tree, calls: int, *, after: bool = False) -> None:
        self._tree, self._calls, self._after = tree, calls, after

    def names(self, folder: str = "") -> Sequence[str] | None:
        return self._alive(lambda: self._tree.names(folder))

    def make(self, folder: str) -> None:
        self._alive(lambda: self._tree.make(folder))

    def create(self, path: str) -> Sink:
        return self._alive(lambda: self._tree.create(path))

    def read(self, path: str) -> Iterator[bytes]:
        return self._alive(lambda: self._tree.read(path))

    def rename(self, path: str, to: str) -> bool:
        return self._alive(lambda: self._tree.rename(path, to))

    def remove(self, path: str) -> None:
        self._alive(lambda: self._tree.remove(path))

    def _alive(self, call: Callable[[], T]) -> T:
        self._calls -= 1
        if self._calls == 0 and not self._after:
            raise Died
        answer = call()
        if self._calls == 0:
            raise Died
        return answer


def tree_of(root: Path) -> LocalTree:
    return LocalTree(place_of("file:///", f"{root}/{NAME}"), roots=[str(root)])


def folder(
    tree: Tree, *, attempt: int = 1, job: int = 7, mode: Mode = Mode.REPLACE, keep_hours: float = 0
) -> SwappedFolder:
    how = How(mode=mode, keep_hours=keep_hours)
    return SwappedFolder(tree, where="there", name=NAME, how=how, tag=Tag(job_id=job, attempt_id=attempt))


def write(into: SwappedFolder, data: bytes) -> None:
    sink = into.create("csv")
    sink.write(data)
    sink.close()
    into.commit()


def contents(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / NAME).iterdir()}


def test_a_result_is_a_folder_with_a_part_and_the_word_that_it_is_whole(tmp_path: Path) -> None:
    write(folder(tree_of(tmp_path)), b"1,a\n")
    assert contents(tmp_path) == {"part-00000.csv": b"1,a\n", "_SUCCESS": b""}


def test_the_next_result_replaces_it_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    for name in ("part-00000-a", "part-00001-a", "_SUCCESS", "._SUCCESS.crc"):
        (tmp_path / NAME / name).write_bytes(b"of Spark's")
    write(folder(tree_of(tmp_path)), b"new")
    assert contents(tmp_path) == {"part-00000.csv": b"new", "_SUCCESS": b""}
    assert os.listdir(tmp_path) == [NAME]


def test_appended_results_stand_side_by_side(tmp_path: Path) -> None:
    for attempt in (1, 2):
        write(folder(tree_of(tmp_path), attempt=attempt, mode=Mode.APPEND), b"%d" % attempt)
    assert contents(tmp_path) == {"part-00000-7-1.csv": b"1", "part-00000-7-2.csv": b"2", "_SUCCESS": b""}
    assert os.listdir(tmp_path) == [NAME]


def test_an_aborted_result_leaves_the_old_one(tmp_path: Path) -> None:
    write(folder(tree_of(tmp_path)), b"old")
    aborted = folder(tree_of(tmp_path), attempt=2)
    aborted.create("csv").close()
    aborted.abort()
    assert contents(tmp_path) == {"part-00000.csv": b"old", "_SUCCESS": b""}
    assert os.listdir(tmp_path) == [NAME]


def test_a_folder_that_is_no_result_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "accounts.xlsx").write_bytes(b"precious")
    with pytest.raises(OutputFailed, match=r"holds 'accounts\.xlsx', which is no part of a result"):
        folder(tree_of(tmp_path)).create("csv")
    assert os.listdir(tmp_path) == [NAME]


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"precious")
    with pytest.raises(OutputFailed, match="not the folder of a result"):
        folder(tree_of(tmp_path)).create("csv")


@pytest.mark.parametrize("mode", [Mode.REPLACE, Mode.APPEND])
@pytest.mark.parametrize("after", [False, True])
def test_whoever_dies_at_any_call_leaves_the_old_or_the_new_to_the_next_sweep(
    tmp_path: Path, mode: Mode, after: bool
) -> None:
    ends = set()
    for calls in itertools.count(1):
        root = tmp_path / str(calls)
        root.mkdir()
        write(folder(tree_of(root)), b"old")
        died = True
        with suppress(Died):
            write(folder(Mortal(tree_of(root), calls, after=after), attempt=2, mode=mode), b"new")
            died = False
        folder(tree_of(root), attempt=3).sweep()
        assert os.listdir(root) == [NAME]
        parts = frozenset(data for name, data in contents(root).items() if name.startswith("part-"))
        ends.add(parts)
        if not died:
            break
    new = {b"new"} if mode is Mode.REPLACE else {b"old", b"new"}
    assert ends == {frozenset({b"old"}), frozenset(new)}


@pytest.mark.parametrize("after", [False, True])
def test_what_a_new_result_replaces_is_kept_whoever_dies(tmp_path: Path, after: bool) -> None:
    found = set()
    for calls in itertools.count(1):
        root = tmp_path / str(calls)
        root.mkdir()
        write(folder(tree_of(root)), b"old")
        died = True
        with suppress(Died):
            write(folder(Mortal(tree_of(root), calls, after=after), attempt=2, keep_hours=24), b"new")
            died = False
        folder(tree_of(root), attempt=3, keep_hours=24).sweep()
        kept = [(root / name / "part-00000.csv").read_bytes() for name in os.listdir(root) if name != NAME]
        found.add((contents(root)["part-00000.csv"], *kept))
        if not died:
            break
    assert found == {(b"old",), (b"new", b"old")}


def test_what_was_kept_goes_when_its_time_is_over_and_the_last_three_stay(tmp_path: Path) -> None:
    for attempt in range(1, 7):
        write(folder(tree_of(tmp_path), attempt=attempt, keep_hours=24), b"%d" % attempt)
    kept = sorted(name for name in os.listdir(tmp_path) if name != NAME)
    assert [(tmp_path / name / "part-00000.csv").read_bytes() for name in kept] == [b"3", b"4", b"5"]
    os.rename(tmp_path / kept[0], tmp_path / ".waterclock-old-8-1-202001010000-other")
    folder(tree_of(tmp_path), attempt=9, job=9).sweep()
    assert sorted(os.listdir(tmp_path)) == [*kept[1:], NAME]


def test_whoever_outlives_a_killed_run_leaves_a_later_one_alone(tmp_path: Path) -> None:
    later = folder(tree_of(tmp_path), attempt=3)
    sink = later.create("csv")
    folder(tree_of(tmp_path), attempt=2).sweep()
    sink.close()
    later.commit()
    assert "part-00000.csv" in contents(tmp_path)


def test_a_run_whose_rows_were_swept_leaves_what_is_there(tmp_path: Path) -> None:
    write(folder(tree_of(tmp_path)), b"old")
    late = folder(tree_of(tmp_path), attempt=2)
    late.create("csv").close()
    folder(tree_of(tmp_path), attempt=3).sweep()
    with pytest.raises(OutputFailed, match="a later run of this job has removed"):
        late.commit()
    assert contents(tmp_path)["part-00000.csv"] == b"old"


def test_jobs_that_write_to_one_place_never_mix(tmp_path: Path) -> None:
    def many(job: int) -> None:
        for attempt in range(1, 21):
            into = folder(tree_of(tmp_path), job=job, attempt=attempt)
            try:
                write(into, b"%d" % job * 100)
            except OutputFailed:  # overtaken again and again
                into.abort()

    jobs = [threading.Thread(target=many, args=(job,)) for job in (1, 2, 3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    found = contents(tmp_path)
    assert found["part-00000.csv"] in (b"1" * 100, b"2" * 100, b"3" * 100)
    assert set(found) == {"part-00000.csv", "_SUCCESS"}
    assert os.listdir(tmp_path) == [NAME]


def test_a_result_stays_below_the_roots(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)
    for path in (outside / "abc", root / "link/abc", root, tmp_path / "root2/abc"):
        with pytest.raises(OutputFailed, match="is not below a folder that file:// may name"):
            LocalTree(place_of("file:///", str(path)), roots=[str(root)])


def test_a_link_that_is_put_in_the_way_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "data").mkdir(parents=True)
    outside.mkdir()
    tree = LocalTree(place_of("file:///", f"{root}/data/{NAME}"), roots=[str(root)])
    (root / "data").rmdir()
    (root / "data").symlink_to(outside)
    with pytest.raises(OutputFailed):
        tree.make("new")
    assert os.listdir(outside) == []


def test_a_result_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / NAME).symlink_to(outside)
    with pytest.raises(OutputFailed, match="a file or a link"):
        folder(tree_of(root)).create("csv")
