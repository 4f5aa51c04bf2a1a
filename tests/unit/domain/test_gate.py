"""What a probe says, and whether another follows: the pause, the last one at the end, and the errors that are borne."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.gate import GateEnd, Probed, Verdict, judge, plan_probe
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.outcome import Retry
from waterclock.domain.run import RunState

UNTIL = 1_000 * SECOND
PAUSE = 60 * SECOND
RUNNING, STOPPING = RunState.RUNNING, RunState.STOPPING


@pytest.mark.parametrize(
    ("exit_code", "output", "verdict"),
    [
        (0, "", Verdict.PASSED),
        (0, "\n \n", Verdict.PASSED),
        (0, "0", Verdict.PASSED),
        (0, "looking at the table\r\n0\r\n\n", Verdict.PASSED),
        (0, "1\n", Verdict.NOT_YET),
        (0, "0\n1\n", Verdict.NOT_YET),
        (0, "2\n", Verdict.ERROR),
        (0, "00", Verdict.ERROR),
        (0, "0 rows", Verdict.ERROR),
        (1, "0", Verdict.ERROR),
        (1, "1", Verdict.ERROR),
        (-9, "", Verdict.ERROR),
        (None, "0", Verdict.ERROR),
    ],
)
def test_the_exit_code_counts_first_then_the_last_line(exit_code: int | None, output: str, verdict: Verdict) -> None:
    assert judge(exit_code=exit_code, output=output)[0] is verdict


def test_what_else_it_printed_is_shown_but_not_all_of_it() -> None:
    _, message = judge(exit_code=0, output="tomorrow\0" + "x" * 10_000)
    assert message
    assert "must print 0 (passed) or 1 (not yet)" in message
    assert "tomorrow" in message
    assert len(message) < 250
    assert "\0" not in message


def plan(
    verdict: Verdict | None,
    *,
    now: Moment = 0,
    was: RunState = RUNNING,
    state: RunState = RunState.SUCCEEDED,
    errors: int = 0,
    number: int = 0,
    tolerates: int = 2,
) -> Retry | GateEnd:
    probed = Probed(verdict=verdict, state=state, message="said")
    return plan_probe(
        probed, was=was, number=number, errors=errors, tolerates=tolerates, pause_us=PAUSE, until=UNTIL, now=now
    )


def test_passing_ends_it_well_even_after_its_time() -> None:
    assert plan(Verdict.PASSED, now=UNTIL + 1) == GateEnd(state=RunState.SUCCEEDED, message=None)


def test_not_yet_is_asked_again_after_the_pause_and_for_the_last_time_at_the_very_end() -> None:
    assert plan(Verdict.NOT_YET, number=4) == Retry(number=5, due_at=PAUSE)
    assert plan(Verdict.NOT_YET, now=UNTIL - PAUSE) == Retry(number=1, due_at=UNTIL)
    assert plan(Verdict.NOT_YET, now=UNTIL - 1) == Retry(number=1, due_at=UNTIL)
    for over in (UNTIL, UNTIL + 7):
        end = plan(Verdict.NOT_YET, now=over)
        assert isinstance(end, GateEnd)
        assert end.state is RunState.TIMEOUT


@pytest.mark.parametrize(("errors", "goes_on"), [(0, True), (1, True), (2, False), (9, False)])
def test_so_many_errors_are_borne_and_no_more(errors: int, goes_on: bool) -> None:
    planned = plan(Verdict.ERROR, errors=errors, state=RunState.FAILED)
    assert isinstance(planned, Retry) is goes_on
    if isinstance(planned, GateEnd):
        assert planned.state is RunState.FAILED
        assert planned.message == f"{errors + 1} error(s), 2 borne; the last: said"


def test_an_error_that_says_nothing_is_counted_all_the_same() -> None:
    probed = Probed(verdict=Verdict.ERROR, state=RunState.FAILED, message=None)
    end = plan_probe(probed, was=RUNNING, number=0, errors=0, tolerates=0, pause_us=PAUSE, until=UNTIL, now=0)
    assert end == GateEnd(state=RunState.FAILED, message="1 error(s), 0 borne")


def test_none_is_borne_where_the_chain_says_so() -> None:
    end = plan(Verdict.ERROR, tolerates=0)
    assert isinstance(end, GateEnd)
    assert end.state is RunState.FAILED


def test_an_error_that_would_be_borne_is_a_time_out_at_the_end() -> None:
    end = plan(Verdict.ERROR, now=UNTIL)
    assert isinstance(end, GateEnd)
    assert end.state is RunState.TIMEOUT


def test_a_lost_worker_is_no_error_and_the_gate_is_probed_again() -> None:
    assert plan(None, state=RunState.FAILED, errors=2) == Retry(number=1, due_at=PAUSE)


@pytest.mark.parametrize("verdict", [*Verdict, None])
def test_what_was_stopped_is_not_probed_again_whatever_it_said(verdict: Verdict | None) -> None:
    assert plan(verdict, was=STOPPING) == GateEnd(state=RunState.STOPPED, message="said")
    assert plan(verdict, state=RunState.STOPPED) == GateEnd(state=RunState.STOPPED, message="said")


@given(
    said=st.lists(st.sampled_from([Verdict.NOT_YET, Verdict.ERROR, None]), max_size=60),
    took=st.integers(1, 90 * SECOND),
    tolerates=st.integers(0, 4),
)
def test_probing_always_ends_with_at_most_one_probe_that_is_due_at_the_end(
    said: list[Verdict | None], took: int, tolerates: int
) -> None:
    """Whatever its probes say, and however long they take."""
    due, number, errors, dues = 0, 0, 0, [0]
    planned: Retry | GateEnd | None = None
    for verdict in [*said, *[Verdict.NOT_YET] * 1_000]:
        planned = plan(verdict, now=due + took, number=number, errors=errors, tolerates=tolerates)
        errors += verdict is Verdict.ERROR
        if isinstance(planned, GateEnd):
            break
        assert planned.number == number + 1
        due, number = planned.due_at, planned.number
        dues.append(due)
    assert isinstance(planned, GateEnd)
    assert dues == sorted(set(dues))
    assert dues[-1] <= UNTIL
    assert errors <= tolerates + 1
    if planned.state is RunState.TIMEOUT:
        assert due + took >= UNTIL
    else:
        assert errors == tolerates + 1
