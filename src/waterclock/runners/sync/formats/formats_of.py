"""From the name of a format to what reads it."""

from collections.abc import Callable, Mapping
from typing import Final

from waterclock.runners.sync.formats.csv_lines import CsvFormat
from waterclock.runners.sync.formats.excel import ExcelFormat
from waterclock.runners.sync.formats.format import Format
from waterclock.runners.sync.formats.json_lines import JsonFormat
from waterclock.runners.sync.formats.options import FileFormat, Options
from waterclock.runners.sync.formats.parquet import ParquetFormat

FORMATS: Final[Mapping[FileFormat, Callable[[Options], Format]]] = {
    FileFormat.CSV: CsvFormat,
    FileFormat.JSON: JsonFormat,
    FileFormat.PARQUET: ParquetFormat,
    FileFormat.EXCEL: ExcelFormat,
}
