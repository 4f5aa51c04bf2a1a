"""JSON lines: an object a line. What is nested is text, as JSON; dates are text, unless `options.columns` says more."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from waterclock.runners.sync.formats.columns import together
from waterclock.runners.sync.formats.format import LOOKED_AT_ROWS, BadLines, File
from waterclock.runners.sync.formats.gzip import unpacked
from waterclock.runners.sync.formats.options import Options
from waterclock.runners.sync.formats.records import Dialect, blocks
from waterclock.runners.sync.formats.values import Row, batches_of, type_of_value
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa


class JsonFormat:
    has_types = True

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lines = Dialect(separator=",", quote="")

    def look(self, file: File) -> "pa.Schema | None":
        import pyarrow as pa

        found: dict[str, pa.DataType] = {}
        objects = self._objects(file, _Ignored(skips=True))
        for line, one in islice(objects, LOOKED_AT_ROWS):
            for key, value in one.items():
                self._widen(found, key, type_of_value(value), f"{file.name}, line {line}")
        return pa.schema(list(found.items())) if found else None

    def batches(self, file: File, schema: "pa.Schema", bad: BadLines) -> Iterator["pa.RecordBatch"]:
        return batches_of(self._rows(file, schema.names, bad), schema, name=file.name, bad=bad)

    def _widen(self, found: "dict[str, pa.DataType]", key: str, kind: "pa.DataType", where: str) -> None:
        import pyarrow as pa

        before = found.get(key, kind)
        if before == kind or key in self._options.types:
            found[key] = before
            return
        both = [("the lines before it", pa.schema([(key, before)])), (where, pa.schema([(key, kind)]))]
        found[key] = together(both, has_types=True).field(0).type

    def _rows(self, file: File, names: list[str], bad: BadLines) -> Iterator[Row]:
        known = set(names)
        is_closed = self._options.only is not None
        for line, one in self._objects(file, bad):
            if not is_closed and not one.keys() <= known:
                extra = next(key for key in one if key not in known)
                bad.add(file.name, line, f"it has {extra!r}, which no row before it has: name it in options.columns")
                continue
            yield Row(line, [one.get(name) for name in names])

    def _objects(self, file: File, bad: BadLines) -> Iterator[tuple[int, dict[str, Any]]]:
        for block in blocks(unpacked(file.stream, file.name), self._lines, file.name):
            for line, text in enumerate(block.data.split(b"\n"), block.line):
                if text.strip() and (one := self._object(file.name, line, text, bad)) is not None:
                    yield line, one

    def _object(self, name: str, line: int, text: bytes, bad: BadLines) -> dict[str, Any] | None:
        if line == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
            if text.lstrip().startswith(b"["):
                raise SourceFailed(f"{name} is one JSON array: give an object a line (JSON lines)")
        try:
            one = orjson.loads(text)
        except orjson.JSONDecodeError as problem:
            bad.add(name, line, f"it is no JSON: {problem.msg}")
            return None
        if not isinstance(one, dict):
            bad.add(name, line, "it is no JSON object")
            return None
        return one


class _Ignored(BadLines):
    """While the first rows are looked at: they are read again, and said then."""

    def add(self, name: str, line: int, reason: str) -> None: ...
