"""How far a sync is, for people: a bar on a terminal, a line now and then elsewhere, and all of it in one line."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from waterclock import clock
from waterclock.faces.cli.chain.screen import terminal_size
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.failure import Failure
from waterclock.faces.cli.following import Progress
from waterclock.faces.cli.lake.calling import at
from waterclock.faces.cli.output import printable

LINE_SECONDS: Final = 2.0  # between two lines, where there is no terminal
WIDEST_BAR: Final = 30
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")

Known = Mapping[str, Any]


class SyncProgress(Progress):
    """Of the job's run: asked for whenever the run is heard of."""

    def __init__(self, client: Client, job_id: int) -> None:
        super().__init__()
        self._client, self._job_id = client, job_id
        self._line, self._line_at = "", clock.monotonic()

    def saw(self, run: dict[str, Any]) -> None:
        known = self._known() if run["state"] == "RUNNING" else {}
        if not known.get("rows_read") or self.is_news(run):
            super().saw(run)
        elif sys.stderr.isatty():
            self.count(bar(known, terminal_size()[0] - 1))  # in the last column some terminals begin a line
        elif (line := in_short(known)) != self._line and clock.monotonic() - self._line_at >= LINE_SECONDS:
            self._line, self._line_at = line, clock.monotonic()
            self.say(line)

    def ended(self) -> None:
        if line := in_short(self._known()):
            self.say(line)

    def _known(self) -> Known:
        """Nothing where the server is away for a moment, or the job gone: whoever follows says so."""
        with suppress(Failure):
            found: Known = self._client.get(at(self._client, "job", self._job_id, "status"))["progress"]
            return found
        return {}


def bar(known: Known, width: int) -> str:
    """As wide as there is room: `[######----]  61.0 %  12,000 of 20,000 rows, 3,400 rows/s`."""
    percent = known.get("percent")
    said = in_short({**known, "percent": None})
    if not isinstance(percent, int | float):
        return said[:width]
    room = max(0, min(WIDEST_BAR, width - len(said) - 12))
    done = round(room * min(100.0, max(0.0, percent)) / 100)
    return f"[{'#' * done}{'-' * (room - done)}] {percent:5.1f} % {said}"[:width]


def in_short(known: Known) -> str:
    return ", ".join(_rows(dict(known)))


def readable(known: Known) -> str:
    """All that a run has said of itself: rows in words, anything else behind its name."""
    told = dict(known)
    words = list(_rows(told))
    others = (f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in told.items())
    return printable(", ".join([*words, *others]))


def _rows(told: dict[str, Any]) -> Iterator[str]:
    """Takes out of `told` what it words."""
    read, total, percent = (told.pop(name, None) for name in ("rows_read", "total_rows", "percent"))
    if read is not None:
        yield f"{_count(read)}{f' of {_count(total)}' if total else ''} rows read"
    if (written := told.pop("rows_written", None)) is not None:
        yield f"{_count(written)} written"
    if percent is not None and not total:
        yield f"{percent} %"
    for name, word in (("bytes_read", "read"), ("bytes_written", "written")):
        if (size := told.pop(name, None)) is not None:
            yield f"{_size(size)} {word}"
    if (rate := told.pop("rows_per_second", None)) is not None:
        yield f"{_count(rate)} rows/s"
    if bad := told.pop("bad_lines", None):
        yield f"{_count(bad)} bad lines"


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)


def _size(number: object) -> str:
    if not isinstance(number, int | float):
        return str(number)
    size, unit = float(number), 0
    while size >= 1_000 and unit < len(_UNITS) - 1:
        size, unit = size / 1_000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{number} B"
