"""Zones as segments say what zoneinfo says, at every hour of decades and at every change of the clocks."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from waterclock.domain.schedule.zone import find_zone

ZONES = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Africa/Monrovia", "Asia/Gaza"]


def _second(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())


@pytest.mark.parametrize("name", ZONES)
def test_segments_hold_the_offset_that_zoneinfo_gives(name: str) -> None:
    zone, info = find_zone(name), ZoneInfo(name)
    for second in range(_second(1970), _second(2060), 5 * 3_600 + 7):
        expected = datetime.fromtimestamp(second, info).utcoffset()
        assert expected is not None
        segment = zone.segment(second)
        assert segment.start <= second < segment.end
        assert segment.offset == expected.total_seconds()


@pytest.mark.parametrize("name", ZONES)
def test_segments_follow_one_another_and_know_the_offset_before(name: str) -> None:
    zone = find_zone(name)
    segment = zone.segment(_second(1970))
    while segment.end < _second(2100):
        following = zone.segment(segment.end)
        assert following.start == segment.end
        assert following.before == segment.offset
        segment = following
