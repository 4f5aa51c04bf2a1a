"""The decision how a program ends, without a process."""

from signal import SIGKILL, SIGTERM

from waterclock.runners.base import End
from waterclock.runners.ending import Ending


def ending(lease_until: float = 100.0, timeout_seconds: float | None = None) -> Ending:
    made = Ending(lease_until=lease_until, grace_seconds=10.0)
    assert made.begins(0.0, timeout_seconds)
    return made


def test_nothing_happens_before_its_time() -> None:
    calm = ending(timeout_seconds=50)
    assert calm.decide(49.9) is None
    assert calm.next_at() == 50


def test_a_stop_asks_once_and_kills_after_the_grace() -> None:
    stopped = ending()
    stopped.stops(End.STOPPED, 5.0)
    assert [stopped.decide(now) for now in (5.0, 6.0, 14.9, 15.0, 15.1)] == [SIGTERM, None, None, SIGKILL, SIGKILL]
    assert stopped.end is End.STOPPED


def test_a_second_stop_does_not_lengthen_the_grace() -> None:
    stopped = ending()
    stopped.stops(End.STOPPED, 5.0)
    stopped.stops(End.STOPPED, 14.0)
    stopped.decide(14.0)
    assert stopped.decide(15.0) == SIGKILL


def test_the_time_limit_stops_with_grace() -> None:
    late = ending(timeout_seconds=20)
    assert [late.decide(now) for now in (20.0, 29.0, 30.0)] == [SIGTERM, None, SIGKILL]
    assert late.end is End.TIMEOUT


def test_a_lease_that_ends_kills_without_grace_even_within_a_stops_grace() -> None:
    lost = ending(lease_until=12)
    lost.stops(End.STOPPED, 5.0)
    lost.decide(5.0)
    assert lost.next_at() == 12
    assert lost.decide(12.0) == SIGKILL
    assert lost.end is End.STOPPED, "the first reason stays"


def test_a_renewed_lease_moves_the_end() -> None:
    renewed = ending(lease_until=12)
    renewed.lease_until = 30
    assert renewed.decide(12.0) is None
    assert renewed.decide(30.0) == SIGKILL
    assert renewed.end is End.LEASE_LOST


def test_a_program_that_ended_by_itself_ended_by_itself_whatever_comes_after() -> None:
    done = ending()
    done.main_died()
    done.stops(End.STOPPED, 5.0)
    done.orphaned()
    assert done.decide(5.0) == SIGKILL, "what it left behind"
    assert done.end is End.EXITED


def test_others_keep_their_grace_when_the_main_process_obeys() -> None:
    stopped = ending()
    stopped.stops(End.STOPPED, 5.0)
    assert stopped.decide(5.0) == SIGTERM
    stopped.main_died()
    assert stopped.decide(6.0) is None
    assert stopped.decide(15.0) == SIGKILL


def test_without_a_lease_nothing_begins() -> None:
    late = Ending(lease_until=5.0, grace_seconds=10.0)
    assert not late.begins(5.0, None)
    assert late.end is End.LEASE_LOST
