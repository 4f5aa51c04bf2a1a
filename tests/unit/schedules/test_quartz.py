"""Every kept answer of Quartz 2.3.2 is ours too, apart from the differences on purpose, which are told by rule."""

import gzip
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.schedules import oracle
from waterclock.domain.cron import parse_cron
from waterclock.domain.errors import BadSchedule
from waterclock.domain.schedule import Cron, Fold, Gap
from waterclock.domain.schedule.zone import find_zone

ANSWERS = Path(__file__).parent / "data" / "quartz.tsv.gz"
# Quartz seeks a hundred years ahead of today and knows no last year; we read years up to 2099 and seek up to 2199.
QUARTZ_HORIZON = int(datetime(2099, 1, 1, tzinfo=UTC).timestamp())


@dataclass(frozen=True)
class Case:
    expression: str
    zone: str
    moment: int
    fires: list[int]
    refused: bool

    def __str__(self) -> str:
        return f"{self.expression} in {self.zone} after {datetime.fromtimestamp(self.moment, UTC)}"


def cases() -> list[Case]:
    with gzip.open(ANSWERS, "rt") as lines:
        return [_case(line.rstrip("\n")) for line in lines]


def _case(line: str) -> Case:
    expression, zone, moment, answer = line.split("\t")
    refused = answer == "refused"
    fires = [] if refused else [int(fire) for fire in answer.split(",") if fire]
    return Case(expression, zone, int(moment), fires, refused)


def ours(case: Case, gap: Gap = Gap.RUN_AT_JUMP, fold: Fold = Fold.ONCE) -> list[int]:
    schedule = Cron(expression=case.expression, timezone=case.zone, gap=gap, fold=fold)
    found: list[int] = []
    us: int | None = case.moment * 1_000_000
    while us is not None and len(found) < 5:
        us = schedule.next_after_us(us)
        found += [] if us is None else [us // 1_000_000]
    return found


def meets_a_clock_change(case: Case) -> bool:
    """Whether the rule names an hour that is skipped or doubled, even in part, between the moment and the last fire.

    Whole hours, because Quartz steps through them: where 00:01–01:01 is skipped it loses an existing 01:30 as well.
    """
    zone, rule = find_zone(case.zone), parse_cron(case.expression)
    segment = zone.segment(case.moment - 86_400)
    while segment.end <= case.fires[-1] + 86_400:
        segment = zone.segment(segment.end)
        walls = sorted((segment.start + segment.before, segment.start + segment.offset))
        found = rule.next(walls[0] // 3_600 * 3_600)
        if found is not None and found < -(-walls[1] // 3_600) * 3_600:
            return True
    return False


ALL = cases()
ACCEPTED = [case for case in ALL if case.fires]
POLICY = [case for case in ACCEPTED if meets_a_clock_change(case)]
PLAIN = [case for case in ACCEPTED if not meets_a_clock_change(case) and case.fires[-1] < QUARTZ_HORIZON]


def test_there_are_thousands_of_answers_and_few_are_a_matter_of_policy() -> None:
    assert len(ALL) > 4_500
    assert len(PLAIN) > 3_900
    assert len(POLICY) > 250


def test_plain_cases_answer_as_quartz_does() -> None:
    wrong = [str(case) for case in PLAIN if ours(case)[: len(case.fires)] != case.fires]
    assert wrong == []


def test_where_quartz_finds_fewer_than_five_fires_so_do_we_up_to_its_horizon() -> None:
    for case in PLAIN:
        rest = ours(case)[len(case.fires) :]
        assert all(fire > QUARTZ_HORIZON for fire in rest), str(case)


def test_what_quartz_never_fires_is_refused_or_silent_here() -> None:
    for case in (case for case in ALL if not case.fires and not case.refused):
        try:
            found = ours(case)
        except BadSchedule as refused:
            found = [] if "never fires" in str(refused) else [case.moment]
        assert all(fire > QUARTZ_HORIZON for fire in found), str(case)


def test_what_quartz_refuses_is_refused_here() -> None:
    for case in (case for case in ALL if case.refused):
        with pytest.raises(BadSchedule):
            Cron(expression=case.expression)


@pytest.mark.parametrize("gap", Gap)
@pytest.mark.parametrize("fold", Fold)
def test_where_clocks_change_our_policy_answers_and_quartz_does_not(gap: Gap, fold: Fold) -> None:
    # Quartz drops or shifts skipped times and runs doubled ones the second time only; ours is asked of the oracle.
    for case in POLICY:
        moment = datetime.fromtimestamp(case.moment, UTC)
        plain = oracle.plain_quartz(_numbered(case.expression))
        expected = oracle.fires(plain, case.zone, moment, 5, catch_gap=gap is Gap.RUN_AT_JUMP, twice=fold is Fold.TWICE)
        assert ours(case, gap, fold) == [int(fire.timestamp()) for fire in expected], str(case)


def test_at_clock_changes_quartz_agrees_on_the_local_time_of_what_it_fires() -> None:
    """Every fire of Quartz in a policy case is a fire of our rule in local time: only the choice of half differs."""
    for case in POLICY:
        zone, rule = find_zone(case.zone), parse_cron(case.expression)
        for fire in case.fires:
            wall = fire + zone.segment(fire).offset
            assert rule.next(wall) == wall, str(case)


def _numbered(expression: str) -> str:
    """The oracle reads numbers and no year: names are put into numbers."""
    text = expression.upper()
    for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"), start=1):
        text = text.replace(name, str(number))
    months = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
    for number, name in enumerate(months, start=1):
        text = text.replace(name, str(number))
    return " ".join(text.split()[:6])
