"""Syncs of files by the program that a worker runs: what a kill, a bad line or a cut leaves in the lake."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lake.file_systems import LocalFiles
from tests.lake.shops import Destination, ParquetFolder, fingerprint
from tests.lake.syncs import SOURCE, Program, Sync
from tests.services.web_files import Served, WebFiles

pytestmark = pytest.mark.heavy

HEADER: Final = "id,name,price,version\n"
KEYED: Final = {"sync_mode": "IncrementalSync", "key_columns": ["id"], "path": "*.csv"}
FULL: Final = {"sync_mode": "FullSync", "path": "*.csv"}


class Drop:
    """A folder into which files come; each has new rows, and rows that were there before."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._rows: dict[int, tuple[object, ...]] = {}
        self._files = itertools.count()

    def add(self, rows: int = 20) -> Path:
        number = next(self._files)
        first = max(self._rows, default=0) - 5
        new = {each: (each, f"name {each}", each / 4, number) for each in range(max(first, 1), first + rows)}
        self._rows |= new
        path = self.folder / f"{number:05}.csv"
        path.write_text(HEADER + "".join(",".join(map(str, row)) + "\n" for row in new.values()))
        return path

    def fingerprint(self) -> str:
        return fingerprint(self._rows.values())


@pytest.fixture
def drop(tmp_path: Path) -> Drop:
    return Drop(tmp_path / "drop")


@pytest.fixture
def lake(sync_program: Program, tmp_path: Path) -> Destination:
    return ParquetFolder(sync_program, LocalFiles(tmp_path), str(tmp_path / "lake"))


def sync_of(
    program: Program, folder: Path, source: tuple[str, Mapping[str, Any]], lake: Destination, **task: Any
) -> Sync:
    whole = {"class_name": "sync_file_job", **task, "destinations": [lake.output]}
    return Sync(program, folder / "attempts", whole, {SOURCE: source}, roots=[str(folder)])


def test_whoever_is_killed_at_any_point_neither_loses_nor_doubles_a_file(
    sync_program: Program, drop: Drop, lake: Destination, tmp_path: Path
) -> None:
    drop.add()
    sync = sync_of(sync_program, tmp_path, ("local", {"path": "drop"}), lake, **KEYED)
    points = sync.run().points
    assert "bookmark written" in points
    for at in itertools.count(points.index("commit")):  # what is loaded aside before is the same for all sources
        assert lake.fingerprint() == drop.fingerprint(), f"after the death at {at - 1}"
        drop.add()
        if sync.run(at).code is not None:
            break
        assert sync.run().code == 0
    assert at > points.index("bookmark written")
    assert lake.fingerprint() == drop.fingerprint()
    assert lake.aside() == []


def test_a_bad_line_leaves_the_table_of_before_or_is_counted(
    sync_program: Program, drop: Drop, lake: Destination, tmp_path: Path
) -> None:
    drop.add()
    source = ("local", {"path": "drop"})
    assert sync_of(sync_program, tmp_path, source, lake, **FULL).run().code == 0
    before, rows = lake.fingerprint(), lake.rows() or []
    path = drop.add(rows=3_000)
    lines = path.read_text().splitlines()
    lines[2_000] = "not a number,x,1,1"
    path.write_text("\n".join(lines))
    failed = sync_of(sync_program, tmp_path, source, lake, **FULL).run()
    assert failed.reason.startswith("00001.csv, line 2001: column id: not int64: invalid value 'not a number'")
    assert lake.fingerprint() == before
    skipped = sync_of(sync_program, tmp_path, source, lake, on_bad_line="skip", **FULL).run()
    assert (skipped.code, skipped.progress["bad_lines"]) == (0, 1)
    assert len(lake.rows() or ()) == len(rows) + 2_999


def test_a_download_that_is_cut_leaves_the_table_of_before(
    sync_program: Program, lake: Destination, tmp_path: Path
) -> None:
    content = (HEADER + "".join(f"{number},x,1.5,1\n" for number in range(300_000))).encode()
    with WebFiles() as web:
        web.files = {"/a.csv": Served(content=content[: content.index(b"\n20,") + 1])}
        task = {**FULL, "path": "a.csv"}
        sync = sync_of(sync_program, tmp_path, ("http", {"base_url": web.base_url}), lake, **task)
        assert sync.run().code == 0
        before = lake.fingerprint()
        web.files = {"/a.csv": Served(content=content, cut_at=len(content) // 2)}
        assert "/a.csv: the connection was cut after" in sync.run().reason
        assert lake.fingerprint() == before
