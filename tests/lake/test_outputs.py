"""Results as files: real HDFS, S3 and this machine's own, as text and as Parquet."""

import itertools
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lake.file_systems import Files, HdfsFiles, LocalFiles, S3Files
from tests.lake.writers import LARGE, PLAIN, OutputRefused, numbers
from tests.services.hdfs import HdfsServer
from tests.services.s3 import S3Server
from tests.services.server import free_port

pytestmark = pytest.mark.heavy


def files(uri: str, path: str, kind: str = "text_file", **config: object) -> Mapping[str, Any]:
    return {"type": kind, "config": {"class_name": "hadoop_config", "hdfs_uri": uri, "result_path": path, **config}}


# Text


EVERYTHING: Final = {
    "b": "bool",
    "i": "int64",
    "f": "double",
    "g": "float",
    "d": "decimal(12, 2)",
    "s": "string",
    "day": "date32",
    "t": "timestamp UTC",
    "k": "timestamp Asia/Seoul",
    "n": "timestamp",
    "a": "list<int32>",
    "m": "map",
    "st": "struct",
    "bytes": "binary",
    "z": "null",
}
ROWS: Final = [
    [
        *(True, 2**63 - 1, 1.0, 0.1, "12.50", 'a,"b"\\c\nd', "2026-11-16", "2026-11-16T09:30:00Z"),
        *("2026-11-16T09:30:00.25Z", "2026-11-16T09:30:00.123456"),
        *([1, None], {"k": 1.5}, {"x": 1, "y": None}, "616263", None),
    ],
    [
        *(False, -1, 1e7, -0.0, "-0.10", "", "0001-01-01", "1960-01-01T00:00:00Z"),
        *("1960-01-01T00:00:00Z", "1960-01-01T00:00:00"),
        *([], {}, {"x": None, "y": 'q"'}, "", None),
    ],
    [None] * 15,
    [None, 0, None, 1e10, "0.00", "a\\b ", *[None] * 9],
]
LINES: Final = (
    'true,9223372036854775807,1.0,0.1,12.50,"a,\\"b\\"\\\\c\nd",2026-11-16,2026-11-16T09:30:00.000Z,'
    "2026-11-16T18:30:00.250+09:00,2026-11-16T09:30:00.123456,"
    '"[1,null]","{\\"k\\":1.5}","{\\"x\\":1}",[61 62 63],\n'
    'false,-1,1.0E7,-0.0,-0.10,"",0001-01-01,1960-01-01T00:00:00.000Z,1960-01-01T08:30:00.000+08:30,'
    '1960-01-01T00:00:00.000,[],{},"{\\"y\\":\\"q\\\\\\"\\"}",[],\n'
    ",,,,,,,,,,,,,,\n"
    ",0,,1.0E10,0.00,a\\b ,,,,,,,,,\n"
)


def test_text_is_what_spark_writes(outputs: Any, tmp_path: Path) -> None:
    into = outputs(files("file:///", f"{tmp_path}/abc"), roots=[str(tmp_path)])
    [[rows, size]] = into.put(EVERYTHING, ROWS)
    assert (tmp_path / "abc/part-00000.csv").read_text() == LINES
    assert (rows, size) == (4, len(LINES.encode()))


def test_text_has_the_separator_and_the_header_that_it_is_given(outputs: Any, tmp_path: Path) -> None:
    into = outputs(files("file:///", f"{tmp_path}/abc", separator="\\t", header=True), roots=[str(tmp_path)])
    into.put({"id": "int64", "a\tb": "string"}, [[1, "x,y"], [2, "x\ty"]])
    assert (tmp_path / "abc/part-00000.csv").read_text() == 'id\t"a\tb"\n1\tx,y\n2\t"x\ty"\n'


def test_no_rows_are_a_result_too(outputs: Any, tmp_path: Path) -> None:
    into = outputs(
        files("file:///", f"{tmp_path}/abc"), files("file:///", f"{tmp_path}/pq", "parquet"), roots=[str(tmp_path)]
    )
    into.make()
    into.tell("open", columns=PLAIN)
    into.tell("commit")
    assert (tmp_path / "abc/part-00000.csv").read_bytes() == b""
    assert into.tell("read_parquet", path=f"{tmp_path}/pq") == [["int64", "string"]]


# Files


def test_parquet_keeps_types_and_values(outputs: Any, tmp_path: Path) -> None:
    into = outputs(files("file:///", f"{tmp_path}/abc", "parquet"), roots=[str(tmp_path)])
    into.put(
        {"id": "int64", "d": "decimal(12, 2)", "t": "timestamp UTC", "z": "null"}, [[1, "1.50", None, None]], times=3
    )
    types, *rows = into.tell("read_parquet", path=f"{tmp_path}/abc")
    assert types == ["int64", "decimal128(12, 2)", "timestamp[us, tz=UTC]", "string"]
    assert rows == [[1, "1.50", None, None]] * 3
    assert sorted(path.name for path in (tmp_path / "abc").iterdir()) == ["_SUCCESS", "part-00000.parquet"]


def test_what_a_format_has_no_form_for_is_said(outputs: Any, tmp_path: Path) -> None:
    into = outputs(files("file:///", f"{tmp_path}/abc"), roots=[str(tmp_path)])
    with pytest.raises(OutputRefused, match=rf"file://{tmp_path}/abc: the column 'x' is an interval"):
        into.put({"x": "duration[us]"}, [[1]])
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(params=["file", "hdfs", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    match request.param:
        case "hdfs":
            return HdfsFiles(request.getfixturevalue("hdfs"))
        case "s3":
            return S3Files(request.getfixturevalue("s3"), f"bucket{next(numbers)}")
        case _:
            return LocalFiles(tmp_path)


@pytest.fixture
def folder(place: Files, tmp_path: Path) -> str:
    """Empty, and the test's own."""
    return str(tmp_path) if isinstance(place, LocalFiles) else f"/data{next(numbers)}"


def test_the_rows_are_there_and_the_next_ones_replace_them(outputs: Any, place: Files, folder: str) -> None:
    into = outputs(files(place.uri, f"{folder}/abc"), **place.order)
    assert into.put(PLAIN, [[1, "a"], [2, "b,c"]]) == [[2, 12]]
    assert place.parts(f"{folder}/abc") == {"part-00000.csv": b'1,a\n2,"b,c"\n'}
    assert place.list(f"{folder}/abc") == ["_SUCCESS", "part-00000.csv"]
    into.put(PLAIN, [[3, "물시계"]])
    assert place.parts(f"{folder}/abc") == {"part-00000.csv": "3,물시계\n".encode()}
    assert place.list(folder) == ["abc"]


def test_results_of_other_formats_and_appended_ones_are_replaced_too(outputs: Any, place: Files, folder: str) -> None:
    outputs(files(place.uri, f"{folder}/abc", "parquet"), **place.order).put(PLAIN, [[1, "a"]])
    appending = outputs(files(place.uri, f"{folder}/abc", write_mode="append"), **place.order)
    appending.put(PLAIN, [[2, "b"]])
    appending.put(PLAIN, [[3, "c"]])
    assert len(place.parts(f"{folder}/abc")) == 3
    assert {b"2,b\n", b"3,c\n"} < set(place.parts(f"{folder}/abc").values())
    outputs(files(place.uri, f"{folder}/abc"), **place.order).put(PLAIN, [[4, "d"]])
    assert place.parts(f"{folder}/abc") == {"part-00000.csv": b"4,d\n"}


def test_a_large_result_is_whole(outputs: Any, place: Files, folder: str) -> None:
    outputs(files(place.uri, f"{folder}/abc"), **place.order).put(PLAIN, LARGE, times=20)
    [part] = place.parts(f"{folder}/abc").values()
    assert part == b"".join(b"%d,%s\n" % (number, name.encode()) for number, name in LARGE) * 20


def test_a_result_that_fails_leaves_the_old_one_and_nothing_else(outputs: Any, place: Files, folder: str) -> None:
    into = outputs(files(place.uri, f"{folder}/abc"), **place.order)
    into.put(PLAIN, [[1, "old"]])
    into.begin(PLAIN, LARGE, times=20)
    into.tell("abort")
    assert place.parts(f"{folder}/abc") == {"part-00000.csv": b"1,old\n"}
    assert place.list(folder) == ["abc"]
    assert place.list(f"{folder}/abc") == ["_SUCCESS", "part-00000.csv"]
    assert not isinstance(place, S3Files) or place.uploads() == []


def test_a_killed_run_leaves_nothing_after_a_sweep(outputs: Any, place: Files, folder: str) -> None:
    into = outputs(files(place.uri, f"{folder}/abc"), **place.order)
    into.put(PLAIN, [[1, "old"]])
    into.begin(PLAIN, LARGE, times=20)
    into.kill()
    into.make()
    into.tell("sweep")
    assert place.parts(f"{folder}/abc") == {"part-00000.csv": b"1,old\n"}
    assert place.list(folder) == ["abc"]
    assert place.list(f"{folder}/abc") == ["_SUCCESS", "part-00000.csv"]
    assert not isinstance(place, S3Files) or place.uploads() == []


@pytest.mark.parametrize("place", ["hdfs", "s3"], indirect=True)  # for files: tests/runners/sql/test_swapping.py
def test_whoever_is_killed_while_it_commits_leaves_the_old_or_the_new(outputs: Any, place: Files, folder: str) -> None:
    into = outputs(files(place.uri, f"{folder}/abc"), **place.order)
    into.put(PLAIN, [[0, "old"]])
    found = []
    for calls in itertools.count(1):
        into.begin(PLAIN, [[calls, "new"]])
        into.die(calls)
        with suppress(OutputRefused):
            into.tell("commit")
            break
        into.kill()
        into.make()
        into.tell("sweep")
        [part] = place.parts(f"{folder}/abc").values()
        found.append(part)
        assert part in (b"%d,new\n" % calls, found[-2] if len(found) > 1 else b"0,old\n")
        assert place.list(folder) == ["abc"]
    assert b"0,old\n" in found
    assert b"%d,new\n" % calls in place.parts(f"{folder}/abc").values()


def test_a_folder_that_is_no_result_is_kept(outputs: Any, place: Files, folder: str) -> None:
    outputs(files(place.uri, f"{folder}/abc/def"), **place.order).put(PLAIN, [[1, "precious"]])
    with pytest.raises(OutputRefused, match="holds 'def', which is no part of a result"):
        outputs(files(place.uri, f"{folder}/abc"), **place.order).put(PLAIN, [[2, "b"]])
    assert place.parts(f"{folder}/abc/def") == {"part-00000.csv": b"1,precious\n"}


def test_what_later_runs_and_other_jobs_load_is_left_alone(outputs: Any, place: Files, folder: str) -> None:
    into, other = (outputs(files(place.uri, f"{folder}/abc"), job=job, **place.order) for job in (7, 77))
    earlier = next(numbers)
    into.begin(PLAIN, LARGE, times=20)
    other.begin(PLAIN, LARGE, times=20)
    late = outputs(files(place.uri, f"{folder}/abc"), **place.order)
    late.make(attempt=earlier)
    late.tell("sweep")
    other.tell("commit")
    into.tell("commit")
    assert [len(part) for part in place.parts(f"{folder}/abc").values()] == [20 * 1004890]


def test_a_late_run_whose_rows_were_swept_leaves_what_is_there(outputs: Any, place: Files, folder: str) -> None:
    into, later = (outputs(files(place.uri, f"{folder}/abc"), **place.order) for _ in range(2))
    into.put(PLAIN, [[1, "old"]])
    into.begin(PLAIN, LARGE, times=20)
    later.make()
    later.tell("sweep")
    with pytest.raises(OutputRefused):
        into.tell("commit")
    assert place.parts(f"{folder}/abc") == {"part-00000.csv": b"1,old\n"}


# Hosts


def test_hdfs_that_is_down_is_said_at_once_and_served_again_later(outputs: Any, hdfs: HdfsServer) -> None:
    into = outputs(files(hdfs.uri, f"/data{next(numbers)}/abc"))
    hdfs.stop()
    try:
        into.make()
        with pytest.raises(OutputRefused, match=f"{hdfs.uri}/data.*cannot be reached"):
            into.tell("sweep")
    finally:
        hdfs.start()
    into.put(PLAIN, [[1, "a"]])


def test_a_file_of_hdfs_in_the_place_of_a_folder_is_an_error(outputs: Any, hdfs: HdfsServer) -> None:
    folder = f"/data{next(numbers)}"
    outputs(files(hdfs.uri, folder)).put(PLAIN, [[1, "a"]])
    with pytest.raises(OutputRefused, match="is a file, and not the folder of a result"):
        outputs(files(hdfs.uri, f"{folder}/part-00000.csv")).put(PLAIN, [[2, "b"]])
    assert hdfs.read(f"{folder}/part-00000.csv") == b"1,a\n"


def test_a_bucket_that_is_missing_or_closed_is_said(outputs: Any, s3: S3Server) -> None:
    keys = {"endpoint": s3.endpoint_url, "region": s3.region, "access_key": s3.access_key, "secret_key": s3.secret_key}
    with pytest.raises(OutputRefused, match=r"s3://missing-bucket/abc: .*NoSuchBucket"):
        outputs(files("s3://missing-bucket", "/abc"), s3=keys).put(PLAIN, [[1, "a"]])
    with pytest.raises(OutputRefused, match=r"s3://probe/abc: .*SignatureDoesNotMatch"):
        outputs(files("s3://probe", "/abc"), s3={**keys, "secret_key": "wrong"}).put(PLAIN, [[1, "a"]])
    nobody = {**keys, "endpoint": f"http://127.0.0.1:{free_port()}"}
    with pytest.raises(OutputRefused, match=r"s3://probe/abc: Could not connect"):
        outputs(files("s3://probe", "/abc"), s3=nobody).put(PLAIN, [[1, "a"]])
