"""What the next run is to know: checked before the rows are in place, kept after."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from waterclock.domain.bookmark import refusal_of
from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.lake.report import Reporter
from waterclock.runners.sync import bookmarks
from waterclock.runners.sync.source import SourceFailed


class Keeping:
    def __init__(self, folder: Path, mark: str, mode: SyncMode, reporter: Reporter) -> None:
        self._folder, self._mark, self._mode, self._reporter = folder, mark, mode, reporter

    def __call__(self, said: Mapping[str, Any] | None) -> Callable[[], None]:
        """What keeps it. None: what the last run left stays."""
        if said is None:
            return lambda: None
        content = bookmarks.text_of(said, self._mark)
        if why := refusal_of(content):
            return self._without(why)
        return lambda: self._keep(said, content)

    def _without(self, why: str) -> Callable[[], None]:
        """A full sync can do without: the next one reads all again."""
        if self._mode is SyncMode.INCREMENTAL:
            raise SourceFailed(f"what the next run would have to know {why}: let several jobs read parts of it")
        return lambda: print(f"the next incremental sync will read all again: its bookmark {why}", flush=True)

    def _keep(self, said: Mapping[str, Any], content: str) -> None:
        bookmarks.write(self._folder, content)
        if said.get("value") is not None:
            self._reporter.progress(watermark=said["value"])
