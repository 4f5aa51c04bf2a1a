"""Shards on a virtual clock: every due instant is fired or skipped with a reason, also through faults."""

import random
from dataclasses import replace

import pytest

from bench.scale.cluster import MIDNIGHT_US, Seen, Story, counted, simulate, simulate_shard, together
from bench.scale.histogram import Histogram
from bench.scale.mix import lines
from bench.scale.model import SERVER, Load, fires_per_second, need
from bench.scale.shard import Fault, Outage, SchedulerLost
from bench.simulate import story_of, told
from tests.bench.constants import CONSTANTS
from waterclock.domain.moment import SECOND

MINUTE = 60 * SECOND
LARGE = Load(name="large", schedules=4_000_000, runs_a_day=40_000_000)
SMALL = Load(name="small", schedules=200_000, runs_a_day=2_000_000)


def story(*faults: Fault, seconds: int = 900, shards: int = 1) -> Story:
    return Story(
        load=SMALL, shards=shards, machine=SERVER, constants=CONSTANTS, seconds=seconds, faults={0: faults}, seed=7
    )


def simulated(*faults: Fault, seconds: int = 900) -> Seen:
    return simulate_shard(story(*faults, seconds=seconds), 0)


def test_every_due_instant_is_fired_once() -> None:
    seen = simulated()
    assert seen.due == seen.fired > 30_000
    assert seen.skipped == 0


def test_nothing_fires_early() -> None:
    assert simulated().fire_late.quantile(0.0) > 0


def test_the_burst_at_midnight_takes_as_long_as_the_formula_says() -> None:
    asked = SMALL.worst_instant / fires_per_second(CONSTANTS, SERVER)
    assert simulated(seconds=60).seconds_to_fire_all == pytest.approx(asked, rel=0.1)


def test_the_database_is_as_busy_as_the_formula_says() -> None:
    """Over the busiest hour, where batches are large; their fixed parts differ with how the work comes in."""
    large = replace(story(seconds=3_600), load=LARGE)
    asked = need(LARGE, CONSTANTS).database_cores / SERVER.database_cores
    assert simulate_shard(large, 0).database == pytest.approx(asked, rel=0.2)


def test_after_an_outage_each_missed_instant_is_fired_or_skipped_with_a_reason() -> None:
    down = Outage(begin_us=MIDNIGHT_US + 2 * MINUTE, end_us=MIDNIGHT_US + 12 * MINUTE)
    seen = simulated(down, seconds=1_800)
    assert seen.fired + seen.skipped == seen.due
    assert 590 < seen.fire_late.most < 660


def test_an_outage_of_an_hour_skips_what_the_policy_lets_go() -> None:
    down = Outage(begin_us=MIDNIGHT_US + 2 * MINUTE, end_us=MIDNIGHT_US + 62 * MINUTE)
    seen = simulated(down, seconds=4_500)
    assert seen.fired + seen.skipped == seen.due
    assert seen.skipped > 0


def test_what_a_lost_scheduler_held_is_fired_by_the_others() -> None:
    lost = SchedulerLost(at_us=MIDNIGHT_US + SECOND // 100, back_us=MIDNIGHT_US + 10 * MINUTE)
    seen, sound = simulated(lost), simulated()
    assert seen.fired == seen.due == sound.fired
    assert seen.fire_late.most > sound.fire_late.most


def test_a_run_ends_that_began_and_none_that_did_not() -> None:
    seen = simulated()
    assert 0 < seen.ended <= seen.begin_late.weight <= seen.fired


def test_deleting_row_by_row_keeps_the_database_busier_than_dropping() -> None:
    deleting = replace(story(), load=replace(SMALL, drops=False))
    assert simulate_shard(deleting, 0).database > simulated().database


def test_the_same_seed_tells_the_same_story() -> None:
    first, second = simulated(), simulated()
    assert (first.fired, first.database, first.fire_late.most) == (second.fired, second.database, second.fire_late.most)


def test_shards_differ_as_a_hash_lets_them() -> None:
    counts = [sum(counted(lines(), 50_000, random.Random(seed))) for seed in range(20)]
    assert len(set(counts)) > 10
    assert all(count == pytest.approx(50_000, rel=0.03) for count in counts)


def test_a_small_cluster_tells_its_figures_beside_the_formulas() -> None:
    few = story_of(SMALL, CONSTANTS, 3, hours=0.1, seed=1)
    seen, _ = simulate(few)
    report = told(few, seen)
    assert report["whole"]["fired"] + report["whole"]["skipped"] == report["whole"]["due"]
    assert set(report["faulty"]) == {0, 1}
    assert set(report["formulas"]) <= set(report["healthy"])


def test_shards_together_are_their_sum() -> None:
    seen, _ = simulate(story(seconds=60, shards=2))
    assert together(seen).fired == seen[0].fired + seen[1].fired


def test_a_quantile_is_within_two_in_a_hundred() -> None:
    histogram = Histogram()
    for number in range(1, 1_001):
        histogram.add(number / 1_000)
    assert histogram.quantile(0.5) == pytest.approx(0.5, rel=0.02)
    assert histogram.quantile(0.99) == pytest.approx(0.99, rel=0.02)
