"""Excel workbooks (.xlsx): one sheet of each, row by row; of formulas the values that Excel computed last."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

from waterclock.runners.sync.formats.cells import Cells, batches_of_cells, columns_of
from waterclock.runners.sync.formats.format import BadLines, File
from waterclock.runners.sync.formats.options import Options
from waterclock.runners.sync.formats.spooling import at_any_point
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, ElementTree.ParseError)


class ExcelFormat:
    has_types = False

    def __init__(self, options: Options) -> None:
        self._options = options

    def look(self, file: File) -> "pa.Schema | None":
        with self._cells(file) as cells:
            return columns_of(cells, self._options, file.name)

    def batches(self, file: File, schema: "pa.Schema", bad: BadLines) -> Iterator["pa.RecordBatch"]:
        with self._cells(file) as cells:
            yield from batches_of_cells(cells, schema, options=self._options, name=file.name, bad=bad)

    @contextmanager
    def _cells(self, file: File) -> Iterator[Cells]:
        import openpyxl

        with at_any_point(file) as data:
            try:
                book = openpyxl.load_workbook(data, read_only=True, data_only=True)
            except (*_DAMAGED, KeyError, ValueError, OSError) as problem:
                raise SourceFailed(f"{file.name} is no Excel workbook (.xlsx): {problem}") from None
            try:
                yield _rows(self._sheet(book, file.name), file.name)
            finally:
                book.close()

    def _sheet(self, book: Any, name: str) -> Any:
        wanted = self._options.sheet
        names = [sheet.title for sheet in book.worksheets]
        if isinstance(wanted, int) and 0 <= wanted < len(names):
            return book.worksheets[wanted]
        if wanted in names:
            return book[wanted]
        raise SourceFailed(f"{name} has no sheet {wanted!r}; there are {', '.join(names)} (options.sheet)")


def _rows(sheet: Any, name: str) -> Cells:
    sheet.reset_dimensions()  # what some programs write there is wrong
    try:
        yield from enumerate(sheet.iter_rows(values_only=True), 1)
    except _DAMAGED as problem:
        raise SourceFailed(f"{name} is damaged: {problem}") from None
