"""Syncs of a service that fails, or whose reader is killed: all records or those of before, each once."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lake.file_systems import LocalFiles
from tests.lake.shops import ParquetFolder, fingerprint
from tests.lake.syncs import SOURCE, Ended, Program, Sync
from tests.services.rest_service import Fault, RestService

pytestmark = pytest.mark.heavy

RECORDS: Final = 1_200
PAGES: Final[Mapping[str, Any]] = {
    "class_name": "sync_service_job",
    "endpoint": "/pages",
    "records": "$.items[*]",
    "paging": {"style": "page"},
}
FULL: Final = {**PAGES, "sync_mode": "FullSync"}
APPENDED: Final = {**PAGES, "sync_mode": "IncrementalSync", "incremental_column": "version"}
KEYED: Final = {**APPENDED, "key_columns": ["id"]}
AGAIN: Final = Fault(status=503, headers={"retry-after": "0"})


class Shop(RestService):
    """Every change adds records and alters others, all with a version higher than any before."""

    def __init__(self) -> None:
        super().__init__(most=200)
        self.version = 0
        self.change(RECORDS)

    def change(self, added: int = 10) -> None:
        self.version += 1
        altered = [self._altered(each) if each["id"] % 97 == self.version % 97 else each for each in self.records]
        first = len(altered) + 1
        self.records = [*altered, *(self._new(number) for number in range(first, first + added))]

    def fingerprint(self) -> str:
        return fingerprint((each["id"], each["name"], each["price"], each["version"]) for each in self.records)

    def _new(self, number: int) -> Mapping[str, Any]:
        return {"id": number, "name": f"name {number}", "price": number / 4, "version": self.version}

    def _altered(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**record, "price": record["price"] + 1, "version": self.version}


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as made:
        yield made


@pytest.fixture
def lake(sync_program: Program, tmp_path: Path) -> ParquetFolder:
    return ParquetFolder(sync_program, LocalFiles(tmp_path), str(tmp_path / "lake"))


@pytest.fixture
def sync_of(sync_program: Program, shop: Shop, lake: ParquetFolder, tmp_path: Path) -> Callable[..., Sync]:
    def make(task: Mapping[str, Any], **config: Any) -> Sync:
        source = ("rest", {"base_url": shop.url, "retries": 1, **config})
        whole = {**task, "destinations": [lake.output]}
        return Sync(sync_program, tmp_path / "attempts", whole, {SOURCE: source}, roots=[str(tmp_path)])

    return make


def done(ended: Ended) -> Ended:
    assert ended.code == 0, ended.reason
    return ended


def refused(ended: Ended) -> str:
    assert ended.code == 1
    return ended.reason


def test_a_sync_that_is_killed_is_made_good_by_the_next(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder
) -> None:
    """At one point of each name: tests/lake/test_sync_faults.py has all of them, for all destinations."""
    sync = sync_of(KEYED)
    points = done(sync.run()).points
    for name in dict.fromkeys(points):
        before = shop.fingerprint()
        assert lake.fingerprint() == before
        shop.change()
        assert sync.run(points.index(name) + 1).code is None
        assert lake.fingerprint() in (before, shop.fingerprint(), "nothing"), f"killed at {name}"
        done(sync.run())
        assert (lake.fingerprint(), lake.aside()) == (shop.fingerprint(), []), f"after the death at {name}"


@pytest.mark.parametrize("task", [FULL, KEYED, APPENDED], ids=["full", "keyed", "appended"])
def test_a_service_that_is_cut_half_way_leaves_what_was_there(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder, task: Mapping[str, Any]
) -> None:
    sync = sync_of(task, retries=0)
    shop.fails = lambda number: Fault(cut=0.5) if number > 3 else None
    assert "/pages: the connection was lost" in refused(sync.run())
    assert (lake.fingerprint(), lake.aside(), sync.bookmark) == ("nothing", [], None)
    shop.fails = lambda number: None
    done(sync.run())
    before, kept = lake.fingerprint(), sync.bookmark
    assert before == shop.fingerprint()
    shop.change(400)
    asked = len(shop.asked)
    shop.fails = lambda number: Fault(cut=0.5) if number > asked + 3 else None
    refused(sync.run())
    assert (lake.fingerprint(), lake.aside(), sync.bookmark) == (before, [], kept)


@pytest.mark.parametrize("task", [FULL, KEYED], ids=["full", "keyed"])
def test_a_service_that_fails_half_of_the_time_arrives_whole(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder, task: Mapping[str, Any]
) -> None:
    sync = sync_of(task)
    shop.fails = lambda number: AGAIN if number % 2 else None
    for _ in range(3):
        done(sync.run())
        assert lake.fingerprint() == shop.fingerprint()
        shop.change()


def test_with_keys_a_record_that_the_pages_show_twice_arrives_once_as_it_was_last(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder
) -> None:
    """As it happens where records come in at the front while they are read: those behind move to the next page."""
    sync, whole = sync_of(KEYED), list(shop.records)
    shop.records = [*whole[:200], {**whole[199], "price": 0.5}, *whole[200:]]
    for _ in range(2):
        done(sync.run())
        assert lake.fingerprint() == fingerprint(
            tuple(each.values()) for each in [*whole[:199], {**whole[199], "price": 0.5}, *whole[200:]]
        )


def test_of_a_full_sync_with_keys_too_such_a_record_arrives_once(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder
) -> None:
    whole = list(shop.records)
    shop.records = [*whole[:200], *whole[190:]]
    done(sync_of({**FULL, "key_columns": ["id"]}).run())
    assert lake.fingerprint() == fingerprint(tuple(each.values()) for each in whole)


def test_without_keys_only_what_is_later_is_appended(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder
) -> None:
    sync = sync_of(APPENDED)
    done(sync.run())
    first = list(shop.records)
    shop.version += 1
    shop.records += [shop._new(number) for number in range(RECORDS + 1, RECORDS + 8)]
    assert done(sync.run()).progress["rows_written"] == 7
    assert done(sync.run()).progress["rows_written"] == 0
    assert len(lake.rows() or ()) == len(first) + 7
    assert lake.fingerprint() == shop.fingerprint()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"price": "much"}, "price"),
        ({"version": "two"}, "version is a text, and the watermark 1 is a number"),
    ],
)
def test_a_column_that_turns_to_text_is_refused_and_nothing_is_changed(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder, change: Mapping[str, Any], words: str
) -> None:
    sync = sync_of(KEYED)
    done(sync.run())
    before, kept = lake.fingerprint(), sync.bookmark
    shop.records.append({"id": 5_000, "name": "new", "price": 1.5, "version": 2, **change})
    assert words in refused(sync.run())
    assert (lake.fingerprint(), lake.aside(), sync.bookmark) == (before, [], kept)


def test_a_null_watermark_is_refused_without_keys_and_read_with_them(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder
) -> None:
    shop.records.append({"id": 5_000, "name": "no version", "price": 1.5, "version": None})
    reason = refused(sync_of(APPENDED).run())
    assert reason.startswith("/pages, page 7, record 1: version is null, which no watermark finds: give key_columns")
    assert lake.fingerprint() == "nothing"
    keyed = sync_of(KEYED)
    for _ in range(2):
        done(keyed.run())
        assert lake.fingerprint() == shop.fingerprint()


def test_a_service_that_pages_for_ever_is_refused_at_the_cap_and_shows_nothing(
    sync_of: Callable[..., Sync], shop: Shop, lake: ParquetFolder
) -> None:
    paging = {"style": "page", "most_pages": 50}
    ended = sync_of({**PAGES, "endpoint": "/endless", "records": "$", "paging": paging}).run()
    assert refused(ended).startswith("/endless: there are more than 50 pages")
    assert (lake.fingerprint(), lake.aside()) == ("nothing", [])
