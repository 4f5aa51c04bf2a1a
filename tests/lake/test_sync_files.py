"""Files as sources: real S3, SFTP and web servers and this machine's own; CSV, JSON lines, Parquet, Excel, sheets."""

import gzip
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lake.writers import numbers
from tests.services.google import GoogleStandIn, Spreadsheet
from tests.services.s3 import S3Server
from tests.services.server import free_port
from tests.services.sftp import SftpServer
from tests.services.web_files import Served, WebFiles

pytestmark = pytest.mark.heavy

INCREMENTAL: Final = {"sync_mode": "IncrementalSync"}
ORDERS: Final = b"id,name\n1,a\n2,b\n"


class SourceRefused(Exception):
    """What the source said."""


class Reader:
    """A process that has pyarrow: see file_reading.py."""

    def __init__(self, python: Path, folder: Path) -> None:
        program = Path(__file__).with_name("file_reading.py")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([python, "-P", program], cwd=folder, **pipes)  # type: ignore[call-overload]

    def ask(self, do: str, **asked: object) -> Any:
        print(json.dumps({"do": do, **asked}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline() or '{"failed": "the reader has died"}')
        if "failed" in answer:
            raise SourceRefused(answer["failed"])
        return answer["done"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture(scope="module")
def reader(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    made = Reader(lake_python, tmp_path_factory.mktemp("reader"))
    yield made
    made.close()


class Files:
    """A source of files, and the task that reads it."""

    def __init__(self, reader: Reader, kind: str, config: Mapping[str, Any], **means: object) -> None:
        self._reader, self._asked = reader, {"kind": kind, "config": config, **means}

    def read(self, path: object = None, *, since: object = None, **more: Any) -> Any:
        asked = {name: more.pop(name) for name in ("counts", "then") if name in more}
        wanted: dict[str, Any] = {name: more.pop(name) for name in ("most_rows", "batch_rows") if name in more}
        task: dict[str, Any] = more if path is None else {"path": path, **more}
        return self._reader.ask("read", wanted={"task": task, "since": since, **wanted}, **asked, **self._asked)

    def test(self) -> str:
        return str(self._reader.ask("test", **self._asked))

    def tables(self) -> list[str]:
        return list(self._reader.ask("tables", **self._asked))


@pytest.fixture
def local(reader: Reader, tmp_path: Path) -> Files:
    return Files(reader, "local", {"path": str(tmp_path)}, roots=[str(tmp_path)])


@pytest.fixture
def web() -> Iterator[WebFiles]:
    with WebFiles() as server:
        yield server


# Formats


def test_csv_is_typed_by_its_first_rows(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        'id,price,ok,day,at,zone,zip,long,"a,b"\n'
        '1,2,true,2026-11-16,2026-11-16 09:30:00,2026-11-16T09:30:00+09:00,007,12345678901234567890,"x\ny"\n'
        '2,2.5,FALSE,,2026-11-16,,1,1,""\n'
        ",,,,,,,,\n"
    )
    found = local.read("a.csv")
    assert found["schema"] == {
        "id": "int64",
        "price": "double",
        "ok": "bool",
        "day": "date32[day]",
        "at": "timestamp[us]",
        "zone": "timestamp[us, tz=UTC]",
        "zip": "string",
        "long": "string",
        "a,b": "string",
    }
    assert found["rows"] == [
        [
            *(1, 2.0, True, "2026-11-16", "2026-11-16 09:30:00", "2026-11-16 00:30:00+00:00"),
            *("007", "12345678901234567890", "x\ny"),
        ],
        [2, 2.5, False, None, "2026-11-16 00:00:00", None, "1", "1", ""],
        [None] * 9,
    ]


def test_csv_with_everything_in_quotes_is_typed_too(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"id","name"\n"1",""\n"","x"\n"3","y"\n')
    assert local.read("a.csv", options={"columns": {"id": "int"}})["rows"] == [[1, ""], [None, "x"], [3, "y"]]


def test_csv_is_read_as_its_options_say(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("1;'물;시계';NA\n2;'it''s';x\n".encode("cp949"))
    options = {"separator": ";", "quote": "'", "header": False, "encoding": "cp949", "nulls": ["NA"]}
    named = {**options, "columns": ["id", "name", {"name": "note", "type": "text"}]}
    found = local.read("a.txt", options=named)
    assert found["schema"] == {"id": "int64", "name": "string", "note": "string"}
    assert found["rows"] == [[1, "물;시계", None], [2, "it's", "x"]]
    assert list(local.read("a.txt", options=options)["schema"]) == ["column_1", "column_2", "column_3"]


def test_what_stands_before_the_header_is_nothing(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf\r\n\n" + ORDERS + b"\n\noops\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(SourceRefused, match=r"^a.csv, line 8: it has 1 columns"):
        local.read("*.csv")
    assert local.read("*.csv", on_bad_line="skip")["rows"] == [[1, "a"], [2, "b"]]
    with pytest.raises(SourceRefused, match=r"there is nothing that can be read in the files that match \(empty.csv"):
        local.read("empty.csv")


def test_our_own_text_is_read_back(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,name\n1,"say \\"hi\\", twice"\n2,"a\\\\b,c"\n')
    assert local.read("a.csv", options={"escape": "\\"})["rows"] == [[1, 'say "hi", twice'], [2, "a\\b,c"]]


def test_json_lines_keep_their_types_and_nested_values_are_text(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1, "x": {"y": [1]}}\n\n{"id": 2.5, "ok": true, "x": null}\n')
    found = local.read("a.jsonl")
    assert found["schema"] == {"id": "double", "x": "string", "ok": "bool"}
    assert found["rows"] == [[1.0, '{"y":[1]}', None], [2.5, None, True]]


def test_a_job_may_say_the_types(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"d": 1.5, "t": "2026-11-16 09:30:00", "x": 1}\n{"d": "2.25", "x": {"y": 1}}\n')
    columns = {"d": "decimal(12,2)", "t": "timestamp", "x": "text", "later": "int"}
    found = local.read("a.jsonl", options={"columns": columns})
    assert list(found["schema"].values()) == ["decimal128(12, 2)", "timestamp[us]", "string", "int64"]
    assert found["rows"] == [["1.50", "2026-11-16 09:30:00", "1", None], ["2.25", None, '{"y":1}', None]]
    for wrong in ("decimal(99,2)", "decimal(2,3)", "money"):
        with pytest.raises(SourceRefused, match=r"options.columns: 'd' is of the type '.*': known are text, int"):
            local.read("a.jsonl", options={"columns": {**columns, "d": wrong}})


def test_text_that_is_not_in_the_encoding_is_refused(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,name\n1,물\n".encode("utf-16") + b"\n")
    with pytest.raises(SourceRefused, match=r"^a.csv cannot be read as utf-16"):
        local.read("a.csv", options={"encoding": "utf-16"})


def test_blocks_end_where_pyarrow_ends_records(reader: Reader) -> None:
    assert reader.ask("agree", seed=8, texts=1_000) > 500


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_parquet_and_excel_are_read_by_columns(local: Files, reader: Reader, tmp_path: Path, ending: str) -> None:
    columns = {"id": [1, 2, None], "name": ["a", None, "c"], "price": [1.5, None, 3.0]}
    reader.ask("make", path=f"{tmp_path}/a.{ending}", columns=columns)
    found = local.read(f"a.{ending}")
    assert found["schema"] == {"id": "int64", "name": "string", "price": "double"}
    assert found["rows"] == [list(row) for row in zip(*columns.values(), strict=True)]


def test_a_sheet_of_a_workbook_is_chosen_by_name(local: Files, reader: Reader, tmp_path: Path) -> None:
    reader.ask("make", path=f"{tmp_path}/a.xlsx", columns={"id": [1]})
    assert local.read("a.xlsx", options={"sheet": "Other"})["schema"] == {"x": "string"}
    with pytest.raises(SourceRefused, match=r"a.xlsx has no sheet 'Missing'; there are Orders, Other"):
        local.read("a.xlsx", options={"sheet": "Missing"})


def test_gzip_is_read_and_a_cut_one_is_refused(local: Files, tmp_path: Path) -> None:
    packed = gzip.compress(ORDERS) + gzip.compress(b"3,c\n")
    (tmp_path / "a.csv.gz").write_bytes(packed)
    assert local.read("a.csv.gz")["rows"] == [[1, "a"], [2, "b"], [3, "c"]]
    (tmp_path / "a.csv.gz").write_bytes(packed[:-9])
    with pytest.raises(SourceRefused, match=r"a.csv.gz is cut"):
        local.read("a.csv.gz")


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_what_is_not_what_its_name_says_is_refused(local: Files, tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(ORDERS)
    with pytest.raises(SourceRefused, match=rf"^a.{ending} (cannot be read as Parquet|is no Excel workbook)"):
        local.read(f"a.{ending}")


# Many files in one schema


def test_files_of_a_pattern_are_one_table(local: Files, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders/a.csv").write_text("id,name\n1,a\n")
    (tmp_path / "orders/b.csv").write_text("id,price\n1.5,7\n")
    (tmp_path / "orders/c.csv").write_text("id,name\n3,\n")
    (tmp_path / "orders/_SUCCESS").write_text("")
    (tmp_path / "other.csv").write_text("x\n1\n")
    found = local.read("orders/*.csv")
    assert found["schema"] == {"id": "double", "name": "string", "price": "int64"}
    assert found["rows"] == [[1.0, "a", None], [1.5, None, 7], [3.0, None, None]]
    assert local.tables() == ["orders/a.csv", "orders/b.csv", "orders/c.csv", "other.csv"]
    with pytest.raises(SourceRefused, match=r"no file matches orders/\*\.json"):
        local.read("orders/*.json")


def test_types_that_disagree_are_refused_with_both(local: Files, reader: Reader, tmp_path: Path) -> None:
    reader.ask("make", path=f"{tmp_path}/a.parquet", columns={"id": [1], "x": [1]})
    reader.ask("make", path=f"{tmp_path}/b.parquet", columns={"id": [2], "x": ["one"]})
    with pytest.raises(SourceRefused, match=r"the column 'x' is int64 in a.parquet and string in b.parquet: .*text"):
        local.read("*.parquet")
    assert local.read("*.parquet", options={"columns": ["id"]})["rows"] == [[1], [2]]


# Bad lines


def test_one_bad_line_is_named_or_left_out_and_counted(local: Files, tmp_path: Path) -> None:
    lines = [f'{number},"name\n{number}"' if number % 1000 == 0 else f"{number},x" for number in range(100_000)]
    lines[50_500] = "50500,x,too many"
    lines[60_500] = "oops,x"
    (tmp_path / "a.csv").write_text("id,name\n" + "\n".join(lines) + "\n")
    first = 50_500 + 2 + 51  # a header, and a second line of every thousandth
    with pytest.raises(SourceRefused, match=rf"^a.csv, line {first}: it has 3 columns, and 2 are expected"):
        local.read("a.csv", counts=True)
    found = local.read("a.csv", counts=True, on_bad_line="skip")
    assert (found["count"], found["bad_lines"]) == (99_998, 2)
    lines[50_500] = "50500,x"
    (tmp_path / "a.csv").write_text("id,name\n" + "\n".join(lines) + "\n")
    second = 60_500 + 2 + 61
    with pytest.raises(SourceRefused, match=rf"^a.csv, line {second}: column id: not int64: invalid value 'oops'"):
        local.read("a.csv", counts=True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'1,"never closed', "a quote is opened, and not closed"),
        (b"1,\xff", "column name: .*(UTF8|UTF-8)"),
        (b"1", "it has 1 columns, and 2 are expected"),
    ],
)
def test_whatever_is_wrong_with_a_line_it_is_named(local: Files, tmp_path: Path, line: bytes, reason: str) -> None:
    (tmp_path / "a.csv").write_bytes(ORDERS + line + b"\n")
    with pytest.raises(SourceRefused, match=rf"^a.csv, line 4: .*({reason})"):
        local.read("a.csv")
    found = local.read("a.csv", on_bad_line="skip")
    assert (found["rows"], found["bad_lines"]) == ([[1, "a"], [2, "b"]], 1)


def test_bad_lines_of_json_are_named(local: Files, tmp_path: Path) -> None:
    lines = [json.dumps({"id": number}) for number in range(3000)]
    lines[1500], lines[2000], lines[2500] = '{"id": ', '{"id": "x"}', '{"id": 1, "new": 2}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(SourceRefused, match=r"^a.jsonl, line 1501: it is no JSON"):
        local.read("a.jsonl")
    found = local.read("a.jsonl", on_bad_line="skip", counts=True)
    assert (found["count"], found["bad_lines"]) == (2997, 3)


def test_memory_does_not_grow_with_the_file(reader: Reader, local: Files, tmp_path: Path) -> None:
    block = b"".join(b"%d,%s\n" % (number, b"x" * 100) for number in range(10_000))
    with (tmp_path / "a.csv").open("wb") as file:
        file.write(b"id,name\n" + block * 10)
    before = local.read("a.csv", counts=True)["peak_kb"]
    with (tmp_path / "a.csv").open("wb") as file:
        file.write(b"id,name\n" + block * 100)  # 100 MB
    found = local.read("a.csv", counts=True)
    assert found["count"] == 1_000_000
    assert found["peak_kb"] - before < 64 * 1024


# What is new


def test_an_incremental_sync_reads_what_is_new_or_changed(local: Files, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(f"id,name\n1,{name}\n")
    first = local.read("*.csv", **INCREMENTAL)
    assert [row[1] for row in first["rows"]] == ["a", "b", "c"]
    (tmp_path / "b.csv").write_text("id,name\n2,changed\n")
    (tmp_path / "c.csv").unlink()
    (tmp_path / "d.csv").write_text("id,name\n,\n3,d\n")
    second = local.read("*.csv", since=first["bookmark"], **INCREMENTAL)
    assert second["rows"] == [[2, "changed"], [None, None], [3, "d"]]
    assert sorted(second["bookmark"]["files"]) == ["a.csv", "b.csv", "d.csv"]
    third = local.read("*.csv", since=second["bookmark"], **INCREMENTAL)
    assert (third["rows"], third["schema"]) == ([], second["schema"])
    assert third["bookmark"] == second["bookmark"]
    for name in ("a", "b", "d"):
        (tmp_path / f"{name}.csv").rename(tmp_path / f"{name}.done")
    emptied = local.read("*.csv", since=third["bookmark"], **INCREMENTAL)
    assert (emptied["rows"], emptied["bookmark"]["files"]) == ([], {})
    for name in ("a", "b", "d"):
        (tmp_path / f"{name}.done").rename(tmp_path / f"{name}.csv")
    assert len(local.read("*.csv", since=second["bookmark"], sync_mode="FullSync")["rows"]) == 4


def test_a_column_that_is_empty_in_the_new_files_keeps_its_type(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,price\n1,2.5\n")
    first = local.read("*.csv", **INCREMENTAL)
    (tmp_path / "b.csv").write_text("id,price\n2,\n")
    second = local.read("*.csv", since=first["bookmark"], **INCREMENTAL)
    assert (second["schema"], second["rows"]) == ({"id": "int64", "price": "double"}, [[2, None]])


def test_a_file_that_changes_while_it_is_read_is_refused(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(ORDERS + b"3,c\n" * 1_000_000)  # more than a block
    with pytest.raises(SourceRefused, match=r"a.csv was changed while it was read"):
        local.read("a.csv", then={"append_to": f"{tmp_path}/a.csv"})


def test_a_preview_reads_no_more_than_its_rows(local: Files, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n" + "1\n" * 100_000 + "oops\n")
    assert local.read("a.csv", most_rows=3)["rows"] == [[1]] * 3


# This machine


def test_links_do_not_lead_out_of_the_roots(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.csv").write_bytes(ORDERS)
    (tmp_path / "root/link.csv").symlink_to(tmp_path / "secret.csv")
    (tmp_path / "root/up").symlink_to(tmp_path)
    files = Files(reader, "local", {"path": str(tmp_path / "root")}, roots=[str(tmp_path / "root")])
    with pytest.raises(SourceRefused, match=r"link.csv leads out of the folders that jobs may read"):
        files.read("link.csv")
    with pytest.raises(SourceRefused, match=r"no file matches up/\*"):
        files.read("up/*.csv")
    with pytest.raises(SourceRefused, match=r"is nothing below a folder that jobs may read"):
        Files(reader, "local", {"path": "../"}, roots=[str(tmp_path / "root")]).test()
    os.mkfifo(tmp_path / "root/pipe.csv")
    with pytest.raises(SourceRefused, match=r"no file matches pipe.csv"):
        files.read("pipe.csv")


# S3


@pytest.fixture
def bucket(s3: S3Server, reader: Reader) -> "Bucket":
    return Bucket(s3, reader, f"files{next(numbers)}")


class Bucket:
    def __init__(self, server: S3Server, reader: Reader, name: str) -> None:
        self._client, self.name, self._reader = server.client(), name, reader
        self._client.create_bucket(Bucket=name)
        self.config = {
            "endpoint": server.endpoint_url,
            "region": server.region,
            "bucket": name,
            "access_key": server.access_key,
            "secret_key": server.secret_key,
        }

    def put(self, key: str, content: bytes) -> None:
        self._client.put_object(Bucket=self.name, Key=key, Body=content)

    def files(self, *, allows_private: bool = True, **config: str) -> Files:
        return Files(self._reader, "s3", {**self.config, **config}, allows_private=allows_private)


def test_objects_of_a_bucket_are_read_once(bucket: Bucket, reader: Reader, tmp_path: Path) -> None:
    bucket.put("orders/", b"")
    bucket.put("orders/a.csv", ORDERS)
    bucket.put("orders/deep/b.csv.gz", gzip.compress(b"id,name\n3,c\n"))
    reader.ask("make", path=f"{tmp_path}/a.parquet", columns={"id": [4]})
    bucket.put("c.parquet", (tmp_path / "a.parquet").read_bytes())
    files = bucket.files()
    assert files.test() == f"s3://{bucket.name} answered: there are objects"
    assert files.tables() == ["c.parquet", "orders/a.csv", "orders/deep/b.csv.gz"]
    first = files.read("orders/**", **INCREMENTAL)
    assert first["rows"] == [[1, "a"], [2, "b"], [3, "c"]]
    bucket.put("orders/a.csv", b"id,name\n9,new\n")
    assert files.read("orders/**", since=first["bookmark"], **INCREMENTAL)["rows"] == [[9, "new"]]
    assert files.read("*.parquet")["rows"] == [[4]]


def test_an_object_that_is_replaced_before_it_is_read_is_refused(bucket: Bucket) -> None:
    bucket.put("a.csv", ORDERS)
    bucket.put("b.csv", ORDERS)
    replaced = {**bucket.config, "key": "b.csv", "content": "id,name\n7,x\n"}
    with pytest.raises(SourceRefused, match=rf"s3://{bucket.name}/b.csv was changed or deleted while it was read"):
        bucket.files().read("*.csv", then={"put": replaced})


def test_a_bucket_that_is_missing_closed_or_private_is_said(bucket: Bucket) -> None:
    with pytest.raises(SourceRefused, match=r"^s3://missing-bucket: .*NoSuchBucket"):
        bucket.files(bucket="missing-bucket").test()
    with pytest.raises(SourceRefused, match=rf"^s3://{bucket.name}: .*SignatureDoesNotMatch"):
        bucket.files(secret_key="wrong").test()
    with pytest.raises(SourceRefused, match=rf"^s3://{bucket.name}: Could not connect"):
        bucket.files(endpoint=f"http://127.0.0.1:{free_port()}").test()
    with pytest.raises(SourceRefused, match=rf"^s3://{bucket.name}: 127.0.0.1 is not a public address"):
        bucket.files(allows_private=False).test()


def test_the_workers_own_keys_are_shown_to_no_server_that_a_user_names(bucket: Bucket) -> None:
    with pytest.raises(SourceRefused, match=rf"^s3://{bucket.name}: .*AccessDenied"):
        bucket.files(access_key="", secret_key="").test()


# Web servers


def test_files_of_a_web_server_are_read_with_a_login(reader: Reader, web: WebFiles) -> None:
    web.files = {"/base/a.csv": Served(content=ORDERS), "/base/b.csv": Served(content=b"id,name\n3,c\n")}
    auth = {"type": "bearer", "token": "a-token-of-the-tests"}
    files = Files(reader, "http", {"base_url": f"{web.base_url}/base", "auth": auth})
    assert files.test() == f"{web.base_url}/base answered (HTTP status 404)"
    first = files.read(["a.csv", "/b.csv"], **INCREMENTAL)
    assert first["rows"] == [[1, "a"], [2, "b"], [3, "c"]]
    assert {headers["authorization"] for _, headers in web.asked} == {"Bearer a-token-of-the-tests"}
    web.files["/base/a.csv"].content = b"id,name\n7,x\n"
    assert files.read("a.csv /b.csv", since=first["bookmark"], **INCREMENTAL)["rows"] == [[7, "x"]]
    with pytest.raises(SourceRefused, match=r"a web server lists nothing"):
        files.read("*.csv")
    with pytest.raises(SourceRefused, match=r"/missing.csv is not there"):
        files.read("missing.csv")


def test_a_download_that_is_cut_at_the_half_is_an_error(reader: Reader, web: WebFiles) -> None:
    content = b"id,name\n" + b"1,x\n" * 1_000_000
    web.files = {"/a.csv": Served(content=content, cut_at=len(content) // 2)}
    files = Files(reader, "http", {"base_url": web.base_url})
    with pytest.raises(SourceRefused, match=rf"/a.csv: the connection was cut after \d+ of {len(content)} bytes"):
        files.read("a.csv", counts=True)
    web.files = {"/a.csv": Served(content=ORDERS, says_length=False)}
    with pytest.raises(SourceRefused, match=r"the server does not say how long it is"):
        files.read("a.csv")


def test_a_download_that_changes_in_between_is_refused(reader: Reader, web: WebFiles) -> None:
    web.files = {"/a.csv": Served(content=ORDERS, later=[ORDERS, b"id,name\n7,x\n"])}
    with pytest.raises(SourceRefused, match=r"/a.csv was changed while it was read"):
        Files(reader, "http", {"base_url": web.base_url}).read("a.csv")


def test_a_download_without_a_version_is_not_added_again_and_again(reader: Reader, web: WebFiles) -> None:
    web.files = {"/a.csv": Served(content=ORDERS, has_version=False)}
    files = Files(reader, "http", {"base_url": web.base_url})
    with pytest.raises(SourceRefused, match=r"a.csv has no version .*give key_columns, or sync it by FullSync"):
        files.read("a.csv", **INCREMENTAL)
    first = files.read("a.csv", key_columns=["id"], **INCREMENTAL)
    assert len(files.read("a.csv", since=first["bookmark"], key_columns=["id"], **INCREMENTAL)["rows"]) == 2


def test_a_redirect_is_not_told_who_we_are(reader: Reader, web: WebFiles) -> None:
    with WebFiles() as other:
        web.files = {"/a.csv": Served(location=f"{other.base_url}/b.csv")}
        other.files = {"/b.csv": Served(content=ORDERS)}
        headers = {"x-key": "a-key-of-the-tests"}
        auth = {"type": "api_key", "name": "key", "value": "another-key-of-the-tests", "in": "query"}
        files = Files(reader, "http", {"base_url": web.base_url, "headers": headers, "auth": auth})
        assert len(files.read("a.csv")["rows"]) == 2
        assert {path for path, _ in web.asked} == {"/a.csv?key=another-key-of-the-tests"}
        assert {path for path, _ in other.asked} == {"/b.csv"}
        assert all("x-key" not in headers for _, headers in other.asked)


def test_private_addresses_are_refused_on_the_web(reader: Reader, web: WebFiles) -> None:
    files = Files(reader, "http", {"base_url": web.base_url}, allows_private=False)
    with pytest.raises(SourceRefused, match=r"127.0.0.1 is not a public address; .*lake.private"):
        files.read("a.csv")
    assert web.asked == []


# SFTP


@pytest.fixture
def remote(sftp: SftpServer) -> Path:
    folder = sftp.files / f"files{next(numbers)}"
    folder.mkdir()
    (folder / "a.csv").write_bytes(ORDERS)
    return folder


def sftp_files(reader: Reader, sftp: SftpServer, **config: object) -> Files:
    allows_private = bool(config.pop("allows_private", True))
    account = {"host": "127.0.0.1", "port": sftp.port, "user": sftp.user, "host_key": sftp.host_key}
    login = {} if "private_key" in config else {"password": sftp.password}
    return Files(reader, "sftp", {**account, **login, **config}, allows_private=allows_private)


def test_files_of_an_sftp_server_are_read_once(reader: Reader, sftp: SftpServer, remote: Path) -> None:
    (remote / "deep").mkdir()
    (remote / "deep/b.csv").write_bytes(b"id,name\n" + b"3,c\n" * 500_000)  # more than one window
    files = sftp_files(reader, sftp)
    assert "answered" in files.test()
    assert {f"{remote.name}/a.csv", f"{remote.name}/deep/b.csv"} <= set(files.tables())
    first = files.read(f"{remote.name}/**", counts=True, **INCREMENTAL)
    assert first["count"] == 500_002
    (remote / "a.csv").write_bytes(b"id,name\n7,longer\n")
    assert files.read(f"/{remote.name}/**", since=first["bookmark"], **INCREMENTAL)["rows"] == [[7, "longer"]]
    with_key = sftp_files(reader, sftp, private_key=sftp.private_key)
    assert with_key.read(f"{remote.name}/*.csv")["rows"] == [[7, "longer"]]


def test_nobody_is_told_a_password_before_the_server_is_known(reader: Reader, sftp: SftpServer) -> None:
    with pytest.raises(
        SourceRefused, match=r"host_key is missing. The server shows SHA256:\S+; .*ecdsa-sha2-nistp256 AA"
    ):
        sftp_files(reader, sftp, host_key=None).test()
    with pytest.raises(SourceRefused, match=r"shows another key than host_key"):
        sftp_files(reader, sftp, host_key=f"{sftp.host_key[:-8]}AAAAAAA=").test()


def test_what_is_wrong_with_an_sftp_server_is_said(reader: Reader, sftp: SftpServer, remote: Path) -> None:
    with pytest.raises(SourceRefused, match=r"refuses the user 'waterclock' with this password or key"):
        sftp_files(reader, sftp, password="wrong").test()
    with pytest.raises(SourceRefused, match=r"cannot be reached"):
        sftp_files(reader, sftp, port=free_port()).test()
    with pytest.raises(SourceRefused, match=r"127.0.0.1 is not a public address"):
        sftp_files(reader, sftp, allows_private=False).test()
    with pytest.raises(SourceRefused, match=r"private_key is no key that can be read"):
        sftp_files(reader, sftp, private_key="nonsense").test()
    (remote / "b.csv").write_bytes(ORDERS)
    with pytest.raises(SourceRefused, match=r"b.csv was changed while it was read"):
        sftp_files(reader, sftp).read(f"{remote.name}/*.csv", then={"append_to": str(remote / "b.csv")})


# Google Sheets


@pytest.fixture
def spreadsheet(google: GoogleStandIn) -> Spreadsheet:
    rows: list[list[Any]] = [["id", "name", "price"], *([number, f"n{number}", number / 2] for number in range(300))]
    google.spreadsheets["sheet-1"] = Spreadsheet(sheets={"Orders": rows, "It's": [["x"], ["y"]]}, rows=1000)
    return google.spreadsheets["sheet-1"]


def test_a_sheet_is_read_with_a_service_account(
    reader: Reader, google: GoogleStandIn, spreadsheet: Spreadsheet
) -> None:
    config = {"service_account": json.dumps(google.service_account), "base_url": google.base_url}
    files = Files(reader, "google_sheets", config)
    assert google.service_account["client_email"] in files.test()
    found = files.read(spreadsheet_id="sheet-1", options={"sheet": "Orders"})
    assert found["schema"] == {"id": "int64", "name": "string", "price": "double"}
    assert found["rows"] == [[number, f"n{number}", number / 2] for number in range(300)]
    assert files.read(spreadsheet_id="sheet-1", sheet="It's")["rows"] == [["y"]]
    with pytest.raises(SourceRefused, match=r"no sheet 'Missing'; there are Orders, It's"):
        files.read(spreadsheet_id="sheet-1", sheet="Missing")
    with pytest.raises(SourceRefused, match=r"give key_columns, or sync it by FullSync"):
        files.read(spreadsheet_id="sheet-1", **INCREMENTAL)


def test_a_bad_cell_is_named_by_its_row(reader: Reader, google: GoogleStandIn, spreadsheet: Spreadsheet) -> None:
    spreadsheet.sheets["Orders"][200][0] = "oops"
    spreadsheet.sheets["Orders"][100] = []
    files = Files(
        reader, "google_sheets", {"service_account": json.dumps(google.service_account), "base_url": google.base_url}
    )
    options = {"columns": {"id": "int"}}
    with pytest.raises(SourceRefused, match=r"^sheet-1/Orders, line 201: column id: not int64: invalid value 'oops'"):
        files.read(spreadsheet_id="sheet-1", options=options)
    found = files.read(spreadsheet_id="sheet-1", options=options, on_bad_line="skip", counts=True)
    assert (found["count"], found["bad_lines"]) == (298, 1)


def test_a_key_that_is_not_the_accounts_gets_no_token(reader: Reader, google: GoogleStandIn) -> None:
    with GoogleStandIn() as other:
        account = {**google.service_account, "private_key": other.service_account["private_key"]}
    config = {"service_account": json.dumps(account), "base_url": google.base_url}
    with pytest.raises(SourceRefused, match=r"gives reader@.* no token \(HTTP status 400\): Invalid JWT Signature"):
        Files(reader, "google_sheets", config).test()
    assert google.tokens_given == 0


def test_a_public_sheet_is_read_without_an_account(
    reader: Reader, google: GoogleStandIn, spreadsheet: Spreadsheet
) -> None:
    files = Files(reader, "google_sheets", {"public": True, "base_url": google.base_url})
    with pytest.raises(SourceRefused, match=r"sheet-1 is not public"):
        files.read(spreadsheet_id="sheet-1")
    spreadsheet.public = True
    address = "https://docs.google.com/spreadsheets/d/sheet-1/edit#gid=0"
    assert len(files.read(spreadsheet_id=address)["rows"]) == 300
    assert files.read(spreadsheet_id="sheet-1", sheet="It's")["rows"] == [["y"]]
