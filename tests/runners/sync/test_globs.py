"""Which names a pattern means, and which folders it makes one look into."""

from collections.abc import Sequence

import pytest

from waterclock.runners.sync.places.globs import glob_of
from waterclock.runners.sync.places.walking import Entry, walk
from waterclock.runners.sync.source import SourceFailed


@pytest.mark.parametrize(
    ("pattern", "name", "verdict"),
    [
        ("orders/*.csv", "orders/a.csv", True),
        ("/orders/*.csv", "orders/a.csv", True),
        ("orders/*.csv", "orders/deep/a.csv", False),
        ("orders/**/*.csv", "orders/a.csv", True),
        ("orders/**/*.csv", "orders/a/b/c.csv", True),
        ("**", "a.csv", True),
        ("**", "a/b.csv", True),
        ("**/b.csv", "b.csv", True),
        ("a?.csv", "ab.csv", True),
        ("a[0-9].csv", "a7.csv", True),
        ("a[!0-9].csv", "a7.csv", False),
        ("*.csv", "A.CSV", False),
        ("*", "_SUCCESS", False),
        ("**", "a/.hidden", False),
        ("**/*.csv", ".git/a.csv", False),
        ("_*", "_SUCCESS", True),
        ("_SUCCESS", "_SUCCESS", True),
    ],
)
def test_a_pattern_means_names(pattern: str, name: str, verdict: bool) -> None:
    assert glob_of(pattern).matches(name) is verdict


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [("a/b.csv", "a/b.csv"), ("a/b*.csv", "a/b"), ("a/*/c", "a/"), ("**", ""), ("x[12].csv", "x")],
)
def test_a_bucket_is_listed_from_what_all_matches_begin_with(pattern: str, prefix: str) -> None:
    assert glob_of(pattern).prefix == prefix


@pytest.mark.parametrize(
    ("pattern", "words"), [("", "no file"), ("/", "no file"), ("a/../b", r"\.\."), ("a\nb", "control")]
)
def test_what_is_no_pattern_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(SourceFailed, match=words):
        glob_of(pattern)


def test_many_stars_take_no_longer_than_few() -> None:
    assert not glob_of("**/" * 20 + "*a" * 30 + "b").matches("a" * 1000)


def test_only_folders_that_can_lead_to_a_match_are_looked_into() -> None:
    tree = {(): ["orders/", "other/", "x.csv"], ("orders",): ["2026/", "a.csv"], ("orders", "2026"): ["b.csv"]}
    looked_into = []

    def entries(folder: Sequence[str]) -> list[Entry]:
        looked_into.append("/".join(folder))
        return [Entry(name=name.rstrip("/"), is_folder=name.endswith("/")) for name in tree.get(tuple(folder), [])]

    assert [found.name for found in walk(glob_of("orders/*/*.csv"), entries)] == ["orders/2026/b.csv"]
    assert looked_into == ["orders", "orders/2026"]
    assert [found.name for found in walk(glob_of("**"), entries, most=2)] == ["orders/2026/b.csv", "orders/a.csv"]
