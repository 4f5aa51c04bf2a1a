"""A program of the tests, under the interpreter that has pyarrow: it reads files as a sync does, one order a line."""

import io
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as pc

from waterclock.domain.lake_sync import SourceKind
from waterclock.runners.s3_connection import S3Connection
from waterclock.runners.sync.files import file_source
from waterclock.runners.sync.formats.records import Block, Dialect, blocks
from waterclock.runners.sync.source import Means, Rows, SourceFailed, Wanted


def read(asked: Mapping[str, Any]) -> dict[str, Any]:
    """All rows; with `counts`, only how many and how much memory that took; `then` is done after the first batch."""
    source = file_source(SourceKind(asked["kind"]), asked["config"], means(asked))
    rows = source.read(Wanted(**asked["wanted"]))
    try:
        found = list_of(rows, asked)
        bad = getattr(rows, "bad_lines", 0)
        return {**found, "schema": schema(rows), "bookmark": rows.bookmark(), "bad_lines": bad}
    finally:
        rows.close()


def list_of(rows: Rows, asked: Mapping[str, Any]) -> dict[str, Any]:
    found: list[list[Any]] = []
    count = 0
    for batch in rows.batches():
        if not count and "then" in asked:
            change(asked["then"])
        count += batch.num_rows
        if not asked.get("counts"):
            found += map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return {"rows": found, "count": count, "peak_kb": peak_kb()}


def peak_kb() -> int:
    """Of this program alone: what getrusage says begins with what the process that started it had."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])


def change(then: Mapping[str, Any]) -> None:
    """What was found is another before it is read to its end."""
    if "append_to" in then:
        with open(then["append_to"], "ab") as file:
            file.write(b"9,changed\n")
        return
    keys, put = {key: then["put"][key] for key in ("access_key", "secret_key")}, then["put"]
    client = S3Connection(endpoint=put["endpoint"], region=put["region"], keys=keys).client()
    client.put_object(Bucket=put["bucket"], Key=put["key"], Body=put["content"].encode())


def schema(rows: Rows) -> dict[str, str]:
    return {field.name: str(field.type) for field in rows.schema}


def test(asked: Mapping[str, Any]) -> str:
    return file_source(SourceKind(asked["kind"]), asked["config"], means(asked)).test()


def tables(asked: Mapping[str, Any]) -> list[str]:
    return list(file_source(SourceKind(asked["kind"]), asked["config"], means(asked)).tables())


def make(asked: Mapping[str, Any]) -> None:
    """A file in a format that the tests' own interpreter cannot write."""
    columns: dict[str, list[Any]] = asked["columns"]
    if asked["path"].endswith(".xlsx"):
        import openpyxl

        book = openpyxl.Workbook()
        book.active.title = "Orders"
        for row in [list(columns), *zip(*columns.values(), strict=True)]:
            book.active.append(list(row))
        book.create_sheet("Other").append(["x"])
        book.save(asked["path"])
        return
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), asked["path"])


def means(asked: Mapping[str, Any]) -> Means:
    return Means(roots=tuple(asked.get("roots", ())), allows_private=asked.get("allows_private", True))


class Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int = 1) -> bytes:
        return self._data.read(size)

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None: ...

    def close(self) -> None: ...


def agree(asked: Mapping[str, Any]) -> int:
    """Texts of commas, quotes and line breaks: in small blocks they are the rows that they are as a whole."""
    chance, dialect, compared = random.Random(asked["seed"]), Dialect(separator=",", quote='"'), 0
    for _ in range(asked["texts"]):
        text = "".join(chance.choices('ab,,"""\n\n\r', k=chance.randint(1, 40))).encode()
        parts = list(blocks(Bytes(text), dialect, "a.csv", size=chance.randint(1, 9)))
        if not any(part.is_open for part in parts):
            assert together(parts) == parsed(text), text
            compared += 1
    return compared


def together(parts: Sequence[Block]) -> tuple[list[Any], list[str]]:
    found = [parsed(part.data) for part in parts]
    return [row for rows, _ in found for row in rows], [text for _, refused in found for text in refused]


def parsed(data: bytes) -> tuple[list[Any], list[str]]:
    """The rows, and the lines that are none."""
    refused: list[str] = []

    def skip(row: Any) -> str:
        refused.append(row.text)
        return "skip"

    table = pc.read_csv(
        pa.BufferReader(data),
        read_options=pc.ReadOptions(column_names=["a", "b"], use_threads=False, block_size=len(data) + 1),
        parse_options=pc.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        convert_options=pc.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()}),
    )
    return table.to_pylist(), refused


DOES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "read": read,
    "test": test,
    "tables": tables,
    "make": make,
    "agree": agree,
}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"done": DOES[asked["do"]](asked)}
        except SourceFailed as failed:
            answer = {"failed": str(failed)}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
