"""The names of what is kept for some hours: until when is part of them, and they have room in any database."""

from datetime import UTC, datetime

import pytest

from waterclock.runners.sql.aside import Aside
from waterclock.runners.sql.kept import Kept, due, kept, short, too_many
from waterclock.runners.sql.outputs import Tag

OURS = Tag(job_id=7, attempt_id=12)
NOW = int(datetime(2026, 11, 16, 9, 30, 30, tzinfo=UTC).timestamp()) * 1_000_000
HOUR = 3_600_000_000


def test_a_name_says_whose_it_is_and_until_when() -> None:
    name = kept(OURS, "abc", hours=24, wall_us=NOW)
    assert name == ".waterclock-old-7-12-202611170931-abc"
    assert str(Kept.read(name)) == name
    assert Aside.read(name) is None


def test_it_is_kept_for_all_of_its_hours_and_then_by_nobody() -> None:
    name = kept(OURS, "abc", hours=0.5, wall_us=NOW)
    assert due([name, "abc", ".waterclock-7-12-new-abc"], wall_us=NOW + HOUR // 2) == []
    assert due([name, "abc"], wall_us=NOW + HOUR) == [name]


def test_a_job_keeps_the_last_three_of_a_place() -> None:
    names = [kept(Tag(job_id=7, attempt_id=n), "abc", hours=24, wall_us=NOW) for n in (9, 10, 11, 12, 100)]
    others = [kept(Tag(job_id=8, attempt_id=1), "abc", hours=24, wall_us=NOW), names[0].replace("abc", "other")]
    assert too_many([*names, *others], OURS, "abc") == [names[1], names[0]]


@pytest.mark.parametrize("of", ["x" * 63, "물시계" * 21])
def test_a_long_name_is_cut_and_still_known_as_its_own(of: str) -> None:
    tags = [Tag(job_id=1_000_000, attempt_id=100_000_000 + n) for n in range(5)]
    names = [kept(tag, of, hours=24, wall_us=NOW, longest=63) for tag in tags]
    assert max(len(name.encode()) for name in names) <= 63
    assert len(too_many(names, tags[0], of)) == 2
    assert too_many(names, tags[0], f"{of}2") == []


def test_a_name_that_fits_is_whole() -> None:
    assert short("abc", 3) == "abc"
    assert len(short("a" * 30, 20)) == 20
    assert short("a" * 30, 20) != short("a" * 31, 20)


@pytest.mark.parametrize("name", ["abc", ".waterclock-old-7-12-209913310000-abc", ".waterclock-old-7-abc"])
def test_other_names_are_none_of_ours(name: str) -> None:
    assert Kept.read(name) is None
