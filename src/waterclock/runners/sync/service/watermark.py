"""How far an incremental sync of a service has come: which records are new, and what the next run begins from.

Values are numbers, moments (ISO 8601; without a zone they are UTC) or other texts, and compared as such. The watermark
never moves back. A record that a wrong clock has dated more than a day ahead is left for the run of that day, and does
not hide all that come until then; `lag_seconds` holds all back behind the clock.

With key columns the records at the watermark itself are read again (`inclusive`), so that none is lost that came late
with the same value: they are found by their key. What has no value is read each time, where there are keys, and else
refused, unless `null_rows` says otherwise.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from waterclock.runners.sync.service.path import JsonPath
from waterclock.runners.sync.source import SourceFailed

AHEAD: Final = timedelta(days=1)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Scale(StrEnum):
    NUMBER = "a number"
    MOMENT = "a moment"
    TEXT = "a text"


class Nulls(StrEnum):
    """Records without a value in the incremental column."""

    READ = "read"
    SKIP = "skip"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value on its scale; `given` is how the service wrote it, and how it is asked for again."""

    scale: Scale
    place: Any
    given: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Incremental:
    """What the job says of it."""

    column: JsonPath
    is_full: bool  # all records are read, and the watermark is only for the next run
    start: Any = None
    param: str | None = None  # of the request, which takes the watermark
    filtered: bool = True  # here, whatever the service leaves out
    inclusive: bool = False
    nulls: Nulls = Nulls.FAIL
    lag_seconds: float | None = None


class Watermark:
    def __init__(self, incremental: Incremental, since: Any, *, now_us: int) -> None:
        self._job = incremental
        self._since = None if since is None or incremental.is_full else mark_of(since)
        self._highest = self._since
        ahead = AHEAD if incremental.lag_seconds is None else -timedelta(seconds=incremental.lag_seconds)
        self._horizon = datetime.fromtimestamp(now_us / 1_000_000, UTC) + ahead

    @classmethod
    def after(cls, incremental: Incremental, bookmark: Mapping[str, Any] | None, *, now_us: int) -> Self:
        """Of the last run, if that looked at the same column; else from where the job begins."""
        found, column = bookmark or {}, incremental.column.text
        since = found.get("value") if found.get("column", column) == column else None
        return cls(incremental, incremental.start if since is None else since, now_us=now_us)

    @property
    def bookmark(self) -> Mapping[str, Any]:
        """The largest value that was read, as the service wrote it."""
        return {"column": self._job.column.text, "value": None if self._highest is None else self._highest.given}

    @property
    def params(self) -> Mapping[str, Any]:
        """What tells the service where to begin; nothing in the first run."""
        if self._job.param is None or self._since is None:
            return {}
        return {self._job.param: self._since.given}

    def takes(self, record: Mapping[str, Any], where: str) -> bool:
        """Whether it is read by this run; from now on it counts."""
        value = self._job.column.value(record)
        if value is None:
            return self._takes_null(where)
        mark = self._on_scale(mark_of(value, where=f"{where}: {self._job.column.text}"), where)
        if mark.scale is Scale.MOMENT and mark.place > self._horizon:
            return self._job.is_full
        if not self._is_new(mark):
            return False
        if self._highest is None or mark.place > self._highest.place:
            self._highest = mark
        return True

    def _takes_null(self, where: str) -> bool:
        if self._job.nulls is Nulls.FAIL and not self._job.is_full:
            raise SourceFailed(
                f"{where}: {self._job.column.text} is null, which no watermark finds: give key_columns, and each run "
                "reads it anew; or null_rows skip leaves it out; or choose another incremental_column"
            )
        return self._job.is_full or self._job.nulls is Nulls.READ

    def _is_new(self, mark: Mark) -> bool:
        if self._since is None or not self._job.filtered:
            return True
        if self._job.inclusive:
            return bool(mark.place >= self._since.place)
        return bool(mark.place > self._since.place)

    def _on_scale(self, mark: Mark, where: str) -> Mark:
        """All on one; where the job began with a text for a number, that is meant as one."""
        if self._job.lag_seconds is not None and mark.scale is not Scale.MOMENT:
            raise SourceFailed(f"{where}: lag_seconds is for moments, and {self._job.column.text} is {mark.scale}")
        if self._highest is None or self._highest.scale is mark.scale:
            return mark
        if self._since is self._highest and mark.scale is Scale.NUMBER and (number := _number(self._since.given)):
            self._since = self._highest = number
            return mark
        raise SourceFailed(
            f"{where}: {self._job.column.text} is {mark.scale}, and the watermark {self._highest.given!r} is "
            f"{self._highest.scale}: they cannot be compared; run a full sync, or reset the job's bookmark"
        )


def mark_of(value: Any, *, where: str = "last_synced_value") -> Mark:
    match value:
        case bool():
            pass
        case int() | float():
            return Mark(scale=Scale.NUMBER, place=value, given=value)
        case str():
            moment = _moment(value)
            return Mark(scale=Scale.MOMENT if moment else Scale.TEXT, place=moment or value, given=value)
    raise SourceFailed(f"{where} cannot be a watermark: a number, a moment or a text can")


def _moment(text: str) -> datetime | None:
    if not _DAY.match(text):
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _number(text: Any) -> Mark | None:
    try:
        place = int(text)
    except (ValueError, TypeError):
        return None
    return Mark(scale=Scale.NUMBER, place=place, given=place)
