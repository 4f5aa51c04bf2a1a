"""The expressions of W5: every library is asked for the same fires, or the contest would compare different work."""

from datetime import UTC, datetime, timedelta

import pytest

from bench.cron import moments_of, order_text, summed_up
from bench.peers import next_fires
from bench.peers.expressions import HARD, TYPICAL, Expression

EXPRESSIONS = (*TYPICAL, *HARD)
# Odd seconds, at which nothing fires: APScheduler is asked for a fire at or after a moment, the others for one after.
MOMENTS = [datetime.fromtimestamp(second | 1, UTC) for second in moments_of(40)]
# What a library makes of a skipped or doubled local time is its own affair: not near a change.
CHANGES = [datetime(2024 + year, month, 1, tzinfo=UTC) for year in range(5) for month in (3, 4, 10, 11)]
STEADY = [moment for moment in MOMENTS if not any(abs(moment - change) < timedelta(days=45) for change in CHANGES)]


def fires(library: str, expression: Expression) -> list[float]:
    text = expression.text(library)
    assert text is not None
    ask, asked = next_fires.LIBRARIES[library](text, expression.zone, STEADY)
    return [fire.timestamp() for moment in asked if isinstance(fire := ask(moment), datetime)]


@pytest.mark.parametrize(
    "library", ["croniter", "apscheduler"]
)  # cronsim, whose words are croniter's, is not installed
def test_the_words_of_every_library_mean_the_same_fires(library: str) -> None:
    for expression in EXPRESSIONS:
        if expression.text(library) is not None:
            assert fires(library, expression) == fires("waterclock", expression), expression.name


def test_our_two_faces_are_asked_for_the_same_fires() -> None:
    for expression in EXPRESSIONS:
        ask, asked = next_fires.engine(expression.waterclock, expression.zone, STEADY)
        assert [ask(us) / 1e6 for us in asked] == fires("waterclock", expression)  # type: ignore[operator]


def test_the_mean_is_over_what_every_library_can_say() -> None:
    shared, own = HARD[0], HARD[-1]
    assert (shared.shared, own.shared) == (True, False)
    assert summed_up([shared, own], [2.0, 100.0]) == {"mean_us": 2.0, shared.key: 2.0, own.key: 100.0}


def test_an_order_has_the_moments_first_and_then_a_line_for_each_expression() -> None:
    assert order_text("quartz", [TYPICAL[0]], [1, 2]) == "1 2\n0 */5 * * * ?\tUTC\n"


def test_every_expression_has_a_figure_of_its_own() -> None:
    assert len({each.key for each in EXPRESSIONS}) == len(EXPRESSIONS)
