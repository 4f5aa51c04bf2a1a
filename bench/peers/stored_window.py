"""What every program of the stored workload (W4) shares: the window that counts, who notes in it, and what it cost.

Only the standard library: it is imported by the interpreters of the peers' venvs, too. Schedule n of N is due at
`base + n // due_each_second`, and again every N // due_each_second seconds; so many are due in each second, for ever. A
window of seconds somewhere after `base` is what is measured. Contestants have a whole second as their base.
"""

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
LEAD_SECONDS = 5  # from the start of the scheduler to the window: it is idle but for what is due by then
PATIENCE_SECONDS = 15  # after the window; who is later than that has fallen behind


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What was asked for; `base` is in seconds since the epoch."""

    step: str  # "fill" or "run"
    url: str
    count: int
    due: int
    seconds: int
    base: float
    postmaster: int  # 0: there is no database

    @property
    def period(self) -> int:
        return self.count // self.due

    def slot(self, number: int) -> int:
        return number // self.due


def asked() -> Work:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["fill", "run"])
    parser.add_argument("--url", default="")
    for name, default in (("count", 100_000), ("due", 50), ("seconds", 60), ("postmaster", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--base", type=float, default=0.0)
    given = vars(parser.parse_args())
    work = Work(**given)
    if work.count % work.due or work.period < work.seconds:
        raise SystemExit("give a count that is a multiple of --due, and at least --due × --seconds")
    return work


begun: list[tuple[float, int]] = []  # when, and the slot of whom


def note(slot: int) -> None:
    """What a schedule's job does."""
    begun.append((time.time(), slot))


def measured(work: Work, wait: Callable[[float], None] = time.sleep) -> Mapping[str, float]:
    """Called once the scheduler runs; `wait` is for programs that live in an event loop of their own."""
    window = Window.after(work, time.time() + LEAD_SECONDS)
    wait(window.first - time.time())
    before = window.costs()
    wait(window.end - time.time())
    after, memory = window.costs(), resident_mb(os.getpid())
    until = time.time() + PATIENCE_SECONDS
    while len(window.begun()) < window.expected and time.time() < until:
        wait(0.25)
    return {
        **window.lateness(time.time()),
        "scheduler_cpu_percent": 100 * (after[0] - before[0]) / work.seconds,
        "database_cpu_percent": 100 * (after[1] - before[1]) / work.seconds,
        "together_cpu_percent": 100 * (sum(after) - sum(before)) / work.seconds,
        "cpu_us_per_fire": 1e6 * (sum(after) - sum(before)) / window.expected,
        "memory_mb": memory,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From `first`, which is some seconds after the base, up to `end`, which is not in it."""

    work: Work
    first: float
    end: float

    @classmethod
    def after(cls, work: Work, moment: float) -> "Window":
        first = work.base + max(0, math.ceil(moment - work.base))
        if first + work.seconds > work.base + work.period:
            raise SystemExit("filling took longer than the schedules' period: nothing is due where it should be")
        return cls(work=work, first=first, end=first + work.seconds)

    @property
    def expected(self) -> int:
        return self.work.due * self.work.seconds

    def costs(self) -> tuple[float, float]:
        """CPU seconds so far: this process with its children, and all of the database's processes."""
        database = tree_cpu_seconds(self.work.postmaster) if self.work.postmaster else 0.0
        return tree_cpu_seconds(os.getpid()), database

    def begun(self) -> list[float]:
        """How late each was, in seconds."""
        slots = range(round(self.first - self.work.base), round(self.end - self.work.base))
        return [at - (self.work.base + slot) for at, slot in begun if slot in slots]

    def lateness(self, now: float) -> dict[str, float]:
        """Who has not begun counts as late as it is by now."""
        late = self.begun()
        missing = max(0, self.expected - len(late))
        ranked = sorted([*late, *[now - self.end] * missing])
        return {
            "lateness_p50_ms": 1_000 * ranked[len(ranked) // 2],
            "lateness_p99_ms": 1_000 * ranked[int(len(ranked) * 0.99)],
            "not_begun": missing,
        }


def tree_cpu_seconds(root: int) -> float:
    """Of a process and all that came from it, those that have ended included.

    Who ends while its tree is read is in neither its own time nor its parent's: the tree is read until nobody did.
    """
    before, spent = _ticks(root), _ticks(root)
    while before.keys() != spent.keys():
        before, spent = spent, _ticks(root)
    return sum(spent.values()) / TICKS


def _ticks(root: int) -> dict[int, int]:
    """What each process of the tree has spent, with its children that ended; older ones, so parents, are read first."""
    children: dict[int, list[int]] = {}
    spent: dict[int, int] = {}
    for pid in sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        if fields[0] == "X":
            continue  # it is ending, and what it had spent cannot be read any more
        children.setdefault(int(fields[1]), []).append(pid)
        spent[pid] = sum(int(each) for each in fields[11:15])
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return {pid: spent.get(pid, 0) for pid in tree}


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def tell(figures: Mapping[str, float]) -> None:
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}), flush=True)
