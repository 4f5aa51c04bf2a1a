"""Time zones as segments of constant offset, in epoch seconds, worked out once per zone and stretch of time.

Asking zoneinfo costs a microsecond and a datetime each time; a search asks these tables instead.
"""

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from waterclock.domain.errors import BadSchedule

# A stretch is 2**25 s, some 388 days; zones are sampled once a day within it, since no zone changes its mind sooner.
STRETCH_BITS: Final = 25
SAMPLE: Final = 86_400
LONGEST_NAME: Final = 64
_OFFSET: Final = re.compile(r"UTC([+-])([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", re.ASCII)


class Segment(NamedTuple):
    """[start, end) in UTC seconds, the offset that holds in it, and the offset that held just before it."""

    start: int
    end: int
    offset: int
    before: int


class Zone:
    """Facts about one zone. What it keeps is a cache of them: two zones of one name answer alike."""

    __slots__ = ("_stretches", "info", "name")

    def __init__(self, name: str, info: tzinfo) -> None:
        self.name = name
        self.info = info
        self._stretches: dict[int, tuple[Segment, ...]] = {}

    def segment(self, second: int) -> Segment:
        stretch = second >> STRETCH_BITS
        segments = self._stretches.get(stretch)
        if segments is None:
            segments = self._stretches[stretch] = self._work_out(stretch)
        for segment in segments:
            if second < segment[1]:
                return segment
        raise AssertionError("a stretch covers all its seconds")

    def offset(self, second: int) -> int:
        offset = datetime.fromtimestamp(second, self.info).utcoffset()
        return 0 if offset is None else offset.days * 86_400 + offset.seconds

    def _work_out(self, stretch: int) -> tuple[Segment, ...]:
        begin, end = stretch << STRETCH_BITS, (stretch + 1) << STRETCH_BITS
        segments: list[Segment] = []
        start, before = begin, self.offset(begin - 1)
        offset = self.offset(begin)
        for sample in [*range(begin + SAMPLE, end, SAMPLE), end - 1]:
            if self.offset(sample) != offset:
                change = self._change(sample - SAMPLE, sample)
                segments.append(Segment(start, change, offset, before))
                start, before, offset = change, offset, self.offset(change)
        segments.append(Segment(start, end, offset, before))
        return tuple(segments)

    def _change(self, low: int, high: int) -> int:
        """The first second in (low, high] whose offset is no longer that at low."""
        offset = self.offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.offset(middle) == offset else (low, middle)
        return high


@lru_cache(maxsize=1024)
def find_zone(name: str) -> Zone:
    """The zone of an IANA name; BadSchedule when there is none."""
    try:
        if not 0 < len(name) <= LONGEST_NAME:
            raise ValueError(name)
        return Zone(name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule(str(name)[:LONGEST_NAME], "no such time zone", part="timezone", value=name) from error


@lru_cache(maxsize=1024)
def find_zone_or_offset(name: str) -> Zone:
    """The zone of an IANA name or, where programs hand in zones of their own, of an offset such as `UTC+09:00`."""
    match = _OFFSET.fullmatch(name)
    if match is None:
        return find_zone(name)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return Zone(name, timezone(-offset if match[1] == "-" else offset))
