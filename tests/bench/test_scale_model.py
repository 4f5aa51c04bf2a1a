"""The capacity model: formulas that add up, and shards that carry what they are said to carry."""

from dataclasses import replace

import pytest

from bench.scale.mix import RUNS_A_DAY, busiest_hour, lines, worst_instant
from bench.scale.model import (
    SERVER,
    Load,
    fires_per_second,
    first_to_break,
    need,
    seconds_to_begin_all,
    shards,
    slots_for,
    tick_seconds,
    utilisation,
)
from tests.bench.constants import CONSTANTS

CLOUD = Load(name="a cloud", schedules=1e8, runs_a_day=1e9)


def test_the_shares_of_the_mix_are_all_schedules_and_have_the_runs_that_are_promised() -> None:
    assert sum(line.share for line in lines()) == pytest.approx(1.0)
    assert sum(line.share * line.runs_a_day for line in lines()) == pytest.approx(RUNS_A_DAY)


def test_a_line_of_the_mix_fires_as_often_a_day_as_it_says() -> None:
    day = 86_400_000_000
    begin = 20_000 * day - 1
    for line in lines():
        assert line.schedule.count_us(begin, begin + day).value == line.runs_a_day


def test_midnight_and_its_hour_are_the_busiest() -> None:
    assert 0.1 < worst_instant() < 0.2
    assert busiest_hour() > 1


def test_a_part_of_a_load_needs_its_part_of_what_grows_with_it() -> None:
    whole, half = need(CLOUD, CONSTANTS), need(CLOUD.part(2), CONSTANTS)
    assert half.disk_tb == pytest.approx(whole.disk_tb / 2)
    assert half.program_cores == pytest.approx(whole.program_cores / 2)
    assert half.database_cores == pytest.approx(whole.database_cores / 2, rel=0.05)  # transactions have a fixed part


def test_what_is_deleted_row_by_row_costs_more_than_what_is_dropped() -> None:
    deleting = replace(CLOUD, drops=False)
    rows = CLOUD.rate * CONSTANTS.prune.database_us_each / 1e6
    more = need(deleting, CONSTANTS).database_cores - need(CLOUD, CONSTANTS).database_cores
    assert more == pytest.approx(rows)


def test_as_many_shards_as_are_said_carry_the_load_and_one_less_does_not() -> None:
    count = shards(CLOUD, CONSTANTS, SERVER)
    assert first_to_break(CLOUD.part(count), CONSTANTS, SERVER)[1] <= SERVER.target
    few = max(1, count - max(1, count // 50) - 1)
    assert first_to_break(CLOUD.part(few), CONSTANTS, SERVER)[1] > SERVER.target


def test_a_small_load_is_one_shard_of_which_hardly_anything_is_used() -> None:
    load = Load(name="a laptop", schedules=100, runs_a_day=1_000)
    assert shards(load, CONSTANTS, SERVER) == 1
    used = utilisation(load, CONSTANTS, SERVER)
    assert all(share < 0.01 for name, share in used.items() if name != "connections")


def test_fires_a_second_are_those_of_full_batches_until_the_database_is_full() -> None:
    assert tick_seconds(CONSTANTS, 1_000) == pytest.approx(0.001 + 0.1 + 0.001 + 0.1 + 0.001)
    assert fires_per_second(CONSTANTS, SERVER) == pytest.approx(4 * 1_000 / 0.203)


def test_what_has_a_slot_at_once_waits_for_none() -> None:
    load = Load(name="few", schedules=10, runs_a_day=10 * 2_880)
    assert seconds_to_begin_all(load, slots_for(load)) == 0
