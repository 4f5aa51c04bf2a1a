"""What every program of a contestant does: it reads its order, and prints one JSON line of what the workload measures.

Only the standard library: it is imported in the venv of every peer.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence

Measure = Callable[[argparse.Namespace], Mapping[str, float]]

PATIENCE_SECONDS = 100.0  # for all jobs to begin and end
UNCOUNTED = 10  # the first ones warm caches
PAUSE_SECONDS = 0.02  # between two submissions to an idle system
LEAD_SECONDS = 5.0  # a scheduler is up and idle before the instant


class FellBehind(Exception):
    """It was not done in time; the words say how far it came."""


def main(workloads: Mapping[str, Measure]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=sorted(workloads))
    parser.add_argument("--url", default="", help="of the store; without one it is the memory of this process")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--batch", type=int, default=0, help="submit so many with a call; 0: one by one")
    given = parser.parse_args()
    try:
        print(json.dumps(workloads[given.workload](given)), flush=True)
    except FellBehind as words:
        sys.exit(str(words))


def instant(count: int, seconds_each: float) -> float:
    """A whole second by which so many schedules will have been made, with time to spare."""
    return float(int(time.time() + LEAD_SECONDS + 2 * count * seconds_each) + 1)


def check_lead(at: float) -> None:
    """After all is defined and the scheduler is up: what is late before it begins would be no measurement."""
    if time.time() > at - 0.5:
        raise FellBehind("creating the schedules took longer than the lead")


def wait_for(done: Callable[[], int], count: int, look_seconds: float = 0.005) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (seen := done()) < count:
        if time.monotonic() > deadline:
            raise FellBehind(f"fell behind: {seen} of {count} within {PATIENCE_SECONDS:g} s")
        time.sleep(look_seconds)


def burst_figures(begins: Sequence[float], at: float) -> dict[str, float]:
    late = sorted(begin - at for begin in begins)
    return {
        "fires_per_second": len(late) / late[-1],
        "lateness_p50_ms": 1000 * percentile(late, 0.5),
        "lateness_p99_ms": 1000 * percentile(late, 0.99),
    }


def latency_figures(seconds: Sequence[float]) -> dict[str, float]:
    ranked = sorted(seconds)
    return {"p50_ms": 1000 * percentile(ranked, 0.5), "p99_ms": 1000 * percentile(ranked, 0.99)}


def percentile(ranked: Sequence[float], share: float) -> float:
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


def one_at_a_time(count: int, submit: Callable[[], object], begun: Callable[[int], float | None]) -> dict[str, float]:
    """From just before each submission to the job's first line; `begun(n)` is when the n-th began, once it has."""
    spans = []
    for number in range(count + UNCOUNTED):
        submitted = time.time()
        submit()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (began := begun(number)) is None:
            if time.monotonic() > deadline:
                raise FellBehind(f"job {number} did not begin within {PATIENCE_SECONDS:g} s")
            time.sleep(0.0005)
        if number >= UNCOUNTED:
            spans.append(began - submitted)
        time.sleep(PAUSE_SECONDS)
    return latency_figures(spans)


def batches(count: int, size: int) -> list[int]:
    """The sizes of all batches of so many jobs."""
    whole, rest = divmod(count, size)
    return [size] * whole + ([rest] if rest else [])
