"""From a source to the outputs: batch by batch, so that memory stays bounded, and in place only when all is there."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from waterclock import clock
from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.sql.loading import Loading
from waterclock.runners.sync.source import Rows

PROGRESS_SECONDS: Final = 0.5


class Pipeline:
    """Use once. `tell` takes progress; while `commits` is entered nobody may stop us."""

    def __init__(
        self,
        rows: Rows,
        loading: Loading,
        *,
        mode: SyncMode,
        goes_on: bool,
        tell: Callable[[Mapping[str, Any]], None],
        log: Callable[[str], None],
        commits: AbstractContextManager[object],
    ) -> None:
        self._rows, self._loading = rows, loading
        self._mode = mode
        self._goes_on = goes_on  # from where the last run ended: then nothing new is nothing to write
        self._tell, self._log, self._commits = tell, log, commits
        self._read = self._bytes = 0
        self._began = self._told_at = clock.monotonic()
        self._is_open = False

    def run(self, keep: Callable[[Mapping[str, Any] | None], Callable[[], None]]) -> None:
        """`keep` checks what the next run is to know, before rows are in place; what it returns stores it, after."""
        try:
            self._load()
            store = keep(self._rows.bookmark())
            with self._commits:
                if self._is_open:
                    self._loading.put_in_place()
                store()
        except BaseException:
            self._loading.abort()
            raise
        self._tell({**self._progress(), **self._loading.placed(), "percent": 100.0})

    def _load(self) -> None:
        self._tell(self._progress())
        if not self._goes_on:
            self._open()
        for batch in self._rows.batches():
            if batch.num_rows:
                self._open()
                self._loading.write(batch)
                self._read += batch.num_rows
                self._bytes += batch.nbytes
            self._say_how_far()
        self._log(f"read {self._read} rows in {clock.monotonic() - self._began:.3f} s")
        if not self._is_open:
            self._log("nothing is new since the last run: nothing is written")

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._loading.open(self._rows.schema)

    def _say_how_far(self) -> None:
        now = clock.monotonic()
        if now - self._told_at >= PROGRESS_SECONDS:
            self._told_at = now
            self._tell(self._progress())

    def _progress(self) -> dict[str, Any]:
        elapsed, total = clock.monotonic() - self._began, self._rows.total
        known: dict[str, Any] = {
            "mode": self._mode,
            "rows_read": self._read,
            "bytes_read": self._bytes,  # as Arrow holds them
            "rows_per_second": round(self._read / elapsed) if elapsed > 0 else 0,
        }
        if total:
            known |= {"total_rows": total, "percent": round(min(100.0, 100.0 * self._read / total), 1)}
        if bad := getattr(self._rows, "bad_lines", 0):
            known["bad_lines"] = bad
        return known
