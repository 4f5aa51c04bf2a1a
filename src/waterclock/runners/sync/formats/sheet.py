"""Rows of a sheet as its place gives them: a JSON array a line, so that lines and rows have one number."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson

from waterclock.runners.sync.formats.cells import Cells, batches_of_cells, columns_of
from waterclock.runners.sync.formats.format import BadLines, File
from waterclock.runners.sync.formats.options import Options
from waterclock.runners.sync.formats.records import Dialect, blocks

if TYPE_CHECKING:
    import pyarrow as pa


class SheetFormat:
    has_types = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lines = Dialect(separator=",", quote="")

    def look(self, file: File) -> "pa.Schema | None":
        return columns_of(self._cells(file), self._options, file.name)

    def batches(self, file: File, schema: "pa.Schema", bad: BadLines) -> Iterator["pa.RecordBatch"]:
        return batches_of_cells(self._cells(file), schema, options=self._options, name=file.name, bad=bad)

    def _cells(self, file: File) -> Cells:
        for block in blocks(file.stream, self._lines, file.name):
            for line, text in enumerate(block.data.splitlines(), block.line):
                yield line, [None if cell == "" else cell for cell in orjson.loads(text)]
