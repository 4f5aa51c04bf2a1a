"""Where a result is to lie: the seed's two fields, read or refused."""

import pytest

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.places import place_of


@pytest.mark.parametrize(
    ("uri", "path", "shown"),
    [
        ("localhost:9000", "/data/abc", "hdfs://localhost:9000/data/abc"),
        ("hdfs://name-node", "data//abc/", "hdfs://name-node/data/abc"),
        ("hdfs://[::1]:9000/base", "/abc", "hdfs://[::1]:9000/base/abc"),
        ("file:///", "/lake/abc", "file:///lake/abc"),
        ("file:///lake", "./abc", "file:///lake/abc"),
        ("s3://bucket", "/abc", "s3://bucket/abc"),
        ("s3://Bucket/base", "/물시계/abc", "s3://Bucket/base/물시계/abc"),
    ],
)
def test_a_uri_and_a_path_make_one_place(uri: str, path: str, shown: str) -> None:
    assert str(place_of(uri, path)) == shown


@pytest.mark.parametrize(
    ("uri", "path", "words"),
    [
        ("", "/abc", "hdfs_uri is empty"),
        ("localhost:9000", "/", "names no folder"),
        ("s3://bucket/base", "", "names no folder"),
        ("hdfs://", "/abc", "names no host"),
        ("localhost:port", "/abc", "cannot be read"),
        ("localhost:99999", "/abc", "cannot be read"),
        ("localhost:0", "/abc", "port 0"),
        ("ftp://host", "/abc", "'ftp'"),
        ("file://elsewhere/", "/abc", "names no host"),
        ("hdfs://user:secret@host", "/abc", "user or a password"),
        ("s3://bucket?versionId=1", "/abc", "a query"),
        ("localhost:9000", "/data/../etc", "may not hold .."),
        ("file:///lake/%2e%2e/etc", "/abc", "may not hold .."),
        ("localhost:9000", "/data/a\nb", "control character"),
        ("local\nhost:9000", "/data", "control character"),
        ("localhost:9000", "/data/\0", "control character"),
        ("localhost:9000", "/data/.waterclock-1-2-new-abc", "is kept for"),
    ],
)
def test_what_cannot_be_a_place_is_refused_in_words(uri: str, path: str, words: str) -> None:
    with pytest.raises(OutputFailed, match=words):
        place_of(uri, path)


def test_a_password_in_the_uri_is_not_repeated() -> None:
    with pytest.raises(OutputFailed) as refusal:
        place_of("hdfs://user:secret@host", "/abc")
    assert "secret" not in str(refusal.value)


def test_a_place_knows_what_lies_within_it() -> None:
    outer, inner = place_of("localhost:9000", "/data"), place_of("localhost:9000", "/data/abc")
    assert inner.is_within(outer)
    assert inner.is_within(inner)
    assert not outer.is_within(inner)
    assert not inner.is_within(place_of("localhost:9001", "/data"))
    assert not place_of("s3://a", "/data/abc").is_within(place_of("s3://b", "/data"))
