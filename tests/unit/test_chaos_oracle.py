"""The oracle of the chaos scenarios, held against instants that were counted by hand."""

from waterclock.chaos.oracle import Asked, Planned, expression
from waterclock.domain.moment import SECOND


def planned(every: int, offset: int = 0, *, stopped: tuple[float, float] | None = None) -> Planned:
    made = Asked(sent_at=round(9.5 * SECOND), answered_at=round(10.5 * SECOND))
    until = Asked(sent_at=round(stopped[0] * SECOND), answered_at=round(stopped[1] * SECOND)) if stopped else None
    return Planned(every_seconds=every, offset_us=offset * SECOND, made=made, stopped=until)


def seconds(moments: list[int]) -> list[float]:
    return [moment / SECOND for moment in moments]


def test_an_active_trigger_is_due_at_every_instant_since_it_was_made() -> None:
    assert seconds(planned(5).due(31 * SECOND)) == [15, 20, 25, 30]
    assert seconds(planned(5, 2).due(31 * SECOND)) == [12, 17, 22, 27]
    assert expression(5, 2) == "2/5 * * * * ?"


def test_what_is_due_while_it_is_made_or_stopped_may_run_or_not() -> None:
    each_second = planned(1, stopped=(13.5, 14.5))
    assert seconds(each_second.due(60 * SECOND)) == [11, 12, 13]
    assert seconds(each_second.perhaps(60 * SECOND)) == [10, 14]


def test_a_trigger_for_once_is_due_once() -> None:
    assert seconds(planned(0, 20).due(60 * SECOND)) == [20]
    assert planned(0, 20).due(19 * SECOND) == []
    assert seconds(planned(0, 10).perhaps(60 * SECOND)) == [10]
