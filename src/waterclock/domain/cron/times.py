"""Times of day: the seconds of a day at which a rule fires, as three masks and their lookup tables."""

from dataclasses import dataclass, field
from functools import lru_cache


@lru_cache(maxsize=4096)
def upward(mask: int, size: int) -> tuple[int, ...]:
    """At place i: the lowest set bit ≥ i, or `size` when there is none."""
    found, table = size, [size] * (size + 1)
    for place in range(size - 1, -1, -1):
        found = place if mask >> place & 1 else found
        table[place] = found
    return tuple(table)


@lru_cache(maxsize=4096)
def downward(mask: int, size: int) -> tuple[int, ...]:
    """At place i + 1: the highest set bit ≤ i; -1 when there is none. Place 0 stands for "before the first"."""
    found, table = -1, [-1] * (size + 1)
    for place in range(size):
        found = place if mask >> place & 1 else found
        table[place + 1] = found
    return tuple(table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Every combination of the hours, minutes and seconds whose bits are set; each mask has at least one."""

    hours: int
    minutes: int
    seconds: int
    first: int = field(init=False, compare=False, repr=False)
    last: int = field(init=False, compare=False, repr=False)
    _up: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)
    _down: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)
    _first_in_hour: int = field(init=False, compare=False, repr=False)
    _last_in_hour: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        up = (upward(self.hours, 24), upward(self.minutes, 60), upward(self.seconds, 60))
        down = (downward(self.hours, 24), downward(self.minutes, 60), downward(self.seconds, 60))
        derived = {
            "_up": up,
            "_down": down,
            "_first_in_hour": up[1][0] * 60 + up[2][0],
            "_last_in_hour": down[1][60] * 60 + down[2][60],
            "first": up[0][0] * 3600 + up[1][0] * 60 + up[2][0],
            "last": down[0][24] * 3600 + down[1][60] * 60 + down[2][60],
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def next(self, second: int) -> int:
        """The first time of day ≥ second, or -1."""
        hours, minutes, seconds = self._up
        hour = second // 3600
        if hours[hour] == hour:
            minute = second // 60 % 60
            if minutes[minute] == minute and (found := seconds[second % 60]) < 60:
                return second - second % 60 + found
            if (minute := minutes[minute + 1]) < 60:
                return hour * 3600 + minute * 60 + seconds[0]
        hour = hours[hour + 1]
        return hour * 3600 + self._first_in_hour if hour < 24 else -1

    def previous(self, second: int) -> int:
        """The last time of day ≤ second, or -1."""
        hours, minutes, seconds = self._down
        hour = second // 3600
        if hours[hour + 1] == hour:
            minute = second // 60 % 60
            if minutes[minute + 1] == minute and (found := seconds[second % 60 + 1]) >= 0:
                return second - second % 60 + found
            if (minute := minutes[minute]) >= 0:
                return hour * 3600 + minute * 60 + seconds[60]
        hour = hours[hour]
        return hour * 3600 + self._last_in_hour if hour >= 0 else -1

    def count_before(self, second: int) -> int:
        """How many times of day are < second (86,400 counts them all)."""
        hour, minute, second = second // 3600, second // 60 % 60, second % 60
        in_minute = self.seconds.bit_count()
        count = below(self.hours, hour) * self.minutes.bit_count() * in_minute
        if self.hours >> hour & 1:
            count += below(self.minutes, minute) * in_minute
            count += below(self.seconds, second) if self.minutes >> minute & 1 else 0
        return count


def below(mask: int, place: int) -> int:
    return (mask & ((1 << place) - 1)).bit_count()
