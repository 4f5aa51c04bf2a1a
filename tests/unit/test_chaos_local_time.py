"""The oracle of local time that a chaos scenario trusts: known days of known zones, told by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.tools.local_time import instants, jump_at
from waterclock.domain.moment import to_datetime

BERLIN, LORD_HOWE = "Europe/Berlin", "Australia/Lord_Howe"
SPRING, AUTUMN = datetime(2027, 3, 28, 1, tzinfo=UTC), datetime(2027, 10, 31, 1, tzinfo=UTC)
BACK = datetime(2027, 4, 3, 15, tzinfo=UTC)  # 02:00 becomes 01:30


def fires(zone: str, hour: int, minute: int, around: datetime, **policy: str) -> list[str]:
    found = instants(
        lambda local: (local.hour, local.minute) == (hour, minute),
        zone,
        around - timedelta(hours=3),
        around + timedelta(hours=3),
        **policy,
    )
    return [f"{to_datetime(at):%H:%M}" for at in found]


@pytest.mark.parametrize(("zone", "jump"), [(BERLIN, SPRING), (BERLIN, AUTUMN), (LORD_HOWE, BACK)])
def test_the_moment_at_which_the_clocks_change_is_found(zone: str, jump: datetime) -> None:
    assert jump_at(zone, jump - timedelta(hours=5)) == jump


def test_a_skipped_time_is_at_the_jump_or_nowhere() -> None:
    assert fires(BERLIN, 2, 30, SPRING) == ["01:00"]
    assert fires(BERLIN, 2, 30, SPRING, gap="skip") == []
    assert fires(BERLIN, 3, 0, SPRING, gap="skip") == ["01:00"]


def test_a_doubled_time_comes_once_or_twice() -> None:
    assert fires(BERLIN, 2, 30, AUTUMN) == ["00:30"]
    assert fires(BERLIN, 2, 30, AUTUMN, fold="twice") == ["00:30", "01:30"]
    assert fires(LORD_HOWE, 1, 45, BACK, fold="twice") == ["14:45", "15:15"]
    assert fires(LORD_HOWE, 1, 15, BACK, fold="twice") == ["14:15"]
