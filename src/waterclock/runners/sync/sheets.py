"""Google Sheets as a source: one sheet of a spreadsheet that the job names."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

from waterclock.runners.sync.files import rows_of
from waterclock.runners.sync.formats.csv_lines import CsvFormat
from waterclock.runners.sync.formats.format import Format
from waterclock.runners.sync.formats.options import Options, options_of
from waterclock.runners.sync.formats.sheet import SheetFormat
from waterclock.runners.sync.places.place import Place
from waterclock.runners.sync.places.sheets import PublicSheetPlace, SheetsPlace, spreadsheet_of
from waterclock.runners.sync.source import Means, Rows, Wanted


class SheetSource:
    def __init__(self, place: Place, format: Callable[[Options], Format]) -> None:
        self._place, self._format = place, format

    def test(self) -> str:
        with closing(self._place):
            return self._place.test()

    def tables(self) -> Sequence[str]:
        """Which spreadsheets there are is nothing that Sheets tells: the job names one."""
        return []

    def read(self, wanted: Wanted) -> Rows:
        options = options_of(_with_sheet(wanted.task), ())
        files = self._place.find(f"{spreadsheet_of(wanted.task)}/{options.sheet}")
        return rows_of(self._place, files, wanted, options, lambda: self._format(options))


def sheet_source(config: Mapping[str, Any], means: Means) -> SheetSource:
    if config.get("public"):
        return SheetSource(PublicSheetPlace(config, means), CsvFormat)
    return SheetSource(SheetsPlace(config, means), SheetFormat)


def _with_sheet(task: Mapping[str, Any]) -> Mapping[str, Any]:
    """`sheet` may stand beside `spreadsheet_id`."""
    if task.get("sheet") is None:
        return task
    return {**task, "options": {"sheet": task["sheet"], **(task.get("options") or {})}}
