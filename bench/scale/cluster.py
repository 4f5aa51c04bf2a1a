"""Many shards through a span of time on a virtual clock, each by itself: a fire never crosses from one to another."""

import math
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from bench.scale.constants import Constants
from bench.scale.histogram import Histogram
from bench.scale.mix import DAY_SECONDS, Line, lines
from bench.scale.model import Load, Machine, slots_for
from bench.scale.shard import Fault, Shard
from waterclock.domain.moment import SECOND

MIDNIGHT_US: Final = 20_000 * DAY_SECONDS * SECOND  # of a Sunday in 2024: the first instant of the story


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    load: Load
    shards: int
    machine: Machine
    constants: Constants
    seconds: int
    begin_us: int = MIDNIGHT_US
    seed: int = 1
    faults: Mapping[int, Sequence[Fault]] = field(default_factory=dict)  # by the shard's number

    @property
    def slots(self) -> int:
        return slots_for(self.load.part(self.shards))


@dataclass(slots=True, kw_only=True)
class Seen:
    """What became of one shard, or of all of them together."""

    schedules: float = 0.0
    due: float = 0.0  # instants, by the schedules themselves
    fired: float = 0.0
    skipped: float = 0.0
    ended: float = 0.0
    database: float = 0.0  # cores that were busy, of those that there are
    tickers: float = 0.0
    seconds_to_fire_all: float = 0.0  # of the first instant
    fire_late: Histogram = field(default_factory=Histogram)
    begin_late: Histogram = field(default_factory=Histogram)


def simulate(story: Story, processes: int = 1) -> tuple[list[Seen], float]:
    """Each shard, and how many real seconds it took."""
    began = time.perf_counter()
    numbers = range(story.shards)
    if processes == 1:
        found = [simulate_shard(story, number) for number in numbers]
    else:
        with ProcessPoolExecutor(processes) as pool:
            found = list(pool.map(simulate_shard, [story] * story.shards, numbers))
    return found, time.perf_counter() - began


def simulate_shard(story: Story, number: int) -> Seen:
    chance = random.Random(story.seed * 1_000_003 + number)
    counts = counted(lines(), story.load.schedules / story.shards, chance)
    shard = Shard(
        lines(),
        counts,
        constants=story.constants,
        machine=story.machine,
        slots=story.slots,
        load=story.load,
        begin_us=story.begin_us,
        seed=chance.randrange(2**32),
        faults=story.faults.get(number, ()),
    )
    for second in range(1, story.seconds + 1):
        shard.second(story.begin_us + second * SECOND)
    return Seen(
        schedules=sum(counts),
        due=_due(counts, story),
        fired=shard.tally.fired,
        skipped=shard.tally.skipped,
        ended=shard.slots.ended,
        database=shard.cores.busy / story.machine.database_cores / story.seconds,
        tickers=shard.tally.ticking / story.machine.schedulers / story.seconds,
        seconds_to_fire_all=shard.tally.last_of_first / SECOND,
        fire_late=shard.tally.late,
        begin_late=shard.slots.late,
    )


def counted(of: Sequence[Line], schedules: float, chance: random.Random) -> list[int]:
    """How many schedules of each line a hash has put on one shard: as many as on average, give or take its root."""
    found = []
    for line in of:
        mean = line.share * schedules
        found.append(max(0, round(chance.gauss(mean, math.sqrt(mean)))) if mean > 30 else _few(mean, chance))
    return found


def _few(mean: float, chance: random.Random) -> int:
    """Poisson's, for small numbers."""
    limit, product, count = math.exp(-mean), chance.random(), 0
    while product > limit:
        product, count = product * chance.random(), count + 1
    return count


def _due(counts: Sequence[int], story: Story) -> float:
    """By the schedules alone: every instant up to the last whole second before the end."""
    end = story.begin_us + story.seconds * SECOND - 1
    return sum(
        count * line.schedule.count_us(story.begin_us - 1, end).value
        for count, line in zip(counts, lines(), strict=True)
    )


def together(shards: Sequence[Seen]) -> Seen:
    whole = Seen()
    for each in shards:
        for name in ("schedules", "due", "fired", "skipped", "ended"):
            setattr(whole, name, getattr(whole, name) + getattr(each, name))
        whole.fire_late.merge(each.fire_late)
        whole.begin_late.merge(each.begin_late)
        whole.seconds_to_fire_all = max(whole.seconds_to_fire_all, each.seconds_to_fire_all)
    whole.database = sum(each.database for each in shards) / len(shards)
    whole.tickers = sum(each.tickers for each in shards) / len(shards)
    return whole
