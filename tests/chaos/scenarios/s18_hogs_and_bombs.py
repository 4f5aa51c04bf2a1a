"""Programs that take all memory, all processors and all processes: each fails with the reason, and alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.one_host import define_job, one_host, run_of, start
from waterclock.chaos.evidence import END
from waterclock.domain.moment import SECOND
from waterclock.domain.run import ENDED

ROUNDS: Final = 3  # of each, one after another
NEIGHBOURS: Final = 5
MOST_LATE_US: Final = 2 * SECOND
GIBIBYTE: Final = 2**30
SAFE: Final = {"memory_bytes": GIBIBYTE, "processes": 20, "cpu_seconds": 20}  # of every one of them

MEMORY: Final = "taken = []\nwhile True:\n    taken.append(bytearray(10**7))\n"
PROCESSOR: Final = "while True:\n    pass\n"
# Every process forks as quickly as it can. It would end by itself: at MOST_FORKS, and after ten seconds.
MOST_FORKS: Final = 400
BOMB: Final = """
count = os.open({count!r} + os.environ["WATERCLOCK_RUN_ID"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
until = time.monotonic() + 10
while time.monotonic() < until:
    if os.fstat(count).st_size >= {most}:
        time.sleep(0.1)
        continue
    os.write(count, b".")
    if os.fork() == 0 and {escapes}:
        os.setsid()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A program, what it may have less than the others, and why it fails."""

    body: str
    reason: str
    limits: Mapping[str, int] = field(default_factory=dict)


@scenario(18, "memory hog, fork bomb, busy loop", stores=("postgres", "sqlite"), short=True)
def run(world: World) -> Result:
    counts, crowd = str(world.folder / "forks-"), "more than 20 processes at once"
    works = {
        "hog": Bad(body=MEMORY, limits={"memory_bytes": GIBIBYTE // 4}, reason="MemoryError"),
        "busy": Bad(body=PROCESSOR, limits={"cpu_seconds": 1}, reason="it used up its CPU time"),
        "bomb": Bad(body=BOMB.format(count=counts, most=MOST_FORKS, escapes=False), reason=crowd),
        "escaping bomb": Bad(body=BOMB.format(count=counts, most=MOST_FORKS, escapes=True), reason=crowd),
    }
    with one_host(world) as made:
        api = made.api
        for number in range(NEIGHBOURS):
            made.every(f"neighbour-{number}", 1)
        for work, bad in works.items():
            define_job(made, api, work, bad.body, limits={**SAFE, **bad.limits})
        ended = {work: _ended(made, api, work, bad.reason) for work, bad in works.items()}
        made.stop_triggers()
        made.quiet()
        forks = sorted(path.stat().st_size for path in world.folder.glob("forks-*"))
        marks = made.marks()
        assert not [mark for mark in marks if mark.work in works and mark.event == END], "one came to its end"
        history = made.history(
            marks=[mark for mark in marks if mark.work not in works], stored=_neighbours(made, ended), failed={}
        )
        result = made.result(history, forks_of_each_bomb=str(forks))
        assert max(result.late_us) < MOST_LATE_US, f"a neighbour was {max(result.late_us) / SECOND:.1f} s late"
        return result


def _ended(made: Cluster, api: httpx.Client, work: str, reason: str) -> list[str]:
    """A few runs: FAILED, each with its reason, and nothing of it is left."""
    runs: list[str] = []
    for _ in range(ROUNDS):
        run_id = start(api, work)
        runs.append(run_id)
        found: Mapping[str, Any] = until(
            lambda run_id=run_id: _end_of(api, run_id),  # type: ignore[misc]
            f"{work} has not ended",
            60,
            pause=0.1,
        )
        assert found["state"] == "FAILED", f"{work}: {found}"
        assert reason in (found["message"] or ""), f"{work}: {found['message']!r}"
        assert run_id not in made.carried(), f"{work} is FAILED, and something of it lives"
    return runs


def _end_of(api: httpx.Client, run_id: str) -> Mapping[str, Any] | None:
    found = run_of(api, run_id)
    return found if found["state"] in ENDED else None


def _neighbours(made: Cluster, ended: Mapping[str, list[str]]) -> dict[tuple[str, int], str]:
    others = {run_id for runs in ended.values() for run_id in runs}
    return {attempt: state for attempt, state in made.stored().items() if attempt[0] not in others}
