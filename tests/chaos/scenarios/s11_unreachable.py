"""11: the database accepts connections and answers nothing for ten seconds; then what was on its way arrives."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.callers import calling
from tests.chaos.tools.faces import Asked, Faces, asking
from tests.chaos.tools.faulty_proxy import faulty_proxy
from waterclock import clock
from waterclock.chaos.evidence import END, START, Mark
from waterclock.domain.moment import SECOND, Moment

OUTAGE_SECONDS: Final = 10.0
CONTRACT_SECONDS: Final = 5.0  # for an answer while it is away, and for coming back
SHORT_LEASE, LONG_LEASE = 5, 30  # seconds: the outage is longer than the one and shorter than the other
DYING_SECONDS: Final = 1.0
LASTING: Final = "lasting"
EACH: Final = 3  # programs under each lease
UNAVAILABLE: Final = 503
BREATHING: Final = """
import time
for _ in range(22 * 20):
    with open("{folder}/breaths-" + WORK + "-" + os.environ["WATERCLOCK_ATTEMPT"], "a") as file:
        print(time.time(), file=file)
    time.sleep(0.05)
"""


@scenario(11, "the database is unreachable for 10 s (half-open)", stores=("postgres", "mariadb"))
def run(world: World) -> Result:
    with faulty_proxy(world.url, seed=0) as proxy, cluster(world, schedulers=2, workers=0, db=proxy.url) as c:
        _busy(c, SHORT_LEASE, slots=EACH)
        _busy(c, LONG_LEASE, slots=64)
        for number in range(3):
            c.every(f"w{number}", 1)
        with calling(c), asking(c) as faces:
            time.sleep(1)
            away_at, wall_us = clock.monotonic(), clock.wall_us()
            proxy.hold()
            time.sleep(OUTAGE_SECONDS)
            proxy.let_go()
            back_at = clock.monotonic()
            recoveries = _recoveries(c, faces, back_at)
        slowest = _check_answers(faces.asked, away_at, back_at)
        c.stop_triggers()
        c.quiet()
        _check_leases(c, wall_us)
        return c.result(
            slowest_answer=f"{slowest.seconds:.1f} s ({slowest.face})",
            recovered=", ".join(f"{what} {seconds:.1f} s" for what, seconds in recoveries.items()),
        )


def _busy(c: Cluster, lease_seconds: int, *, slots: int) -> None:
    """One more worker, with that lease, and programs for it that last longer than the outage."""
    job, works = f"{LASTING}-{lease_seconds}", [f"{LASTING}-{lease_seconds}-{number}" for number in range(EACH)]
    c.job(job, body=BREATHING.format(folder=c.world.folder), retries=3)
    glue = c.glue()
    c.add("worker", lease_seconds=lease_seconds, worker_slots=slots).start()
    for work in works:
        c.call(work, job, glue=glue)
    until(lambda: {mark.work for mark in c.marks()} >= set(works), "the programs do not begin")


def _recoveries(c: Cluster, faces: Faces, back_at: float) -> dict[str, float]:
    """How long until each face answers again, and until a program of a trigger begins again."""
    since, found = clock.wall_us(), {}
    for face in faces.calls:
        answered = until(lambda face=face: _answered(faces, face, back_at), f"{face} stays away")  # type: ignore[misc]
        found[face] = answered.at + answered.seconds - back_at
    until(lambda: any(mark.at > since and mark.work in c.planned for mark in c.marks()), "no trigger's program begins")
    found["triggers"] = clock.monotonic() - back_at
    late = {what: seconds for what, seconds in found.items() if seconds >= CONTRACT_SECONDS}
    assert not late, f"it took {late} to come back"
    return found


def _answered(faces: Faces, face: str, since: float) -> Asked | None:
    """The first good answer to what was asked since then."""
    return next((each for each in tuple(faces.asked) if each.face == face and each.is_ok and each.at > since), None)


def _check_answers(asked: Sequence[Asked], away_at: float, back_at: float) -> Asked:
    """Each of those that were asked meanwhile was answered in time, with 503; the slowest."""
    meanwhile = [each for each in asked if away_at - CONTRACT_SECONDS < each.at < back_at]
    slow = [each for each in meanwhile if each.seconds >= CONTRACT_SECONDS]
    assert not slow, f"{len(slow)} of {len(meanwhile)} answers took too long: {slow[:10]}"
    refused = [each for each in meanwhile if away_at + 0.2 < each.at and each.at + each.seconds < back_at]
    wrong = [each for each in refused if each.status != UNAVAILABLE]
    assert refused, "nobody was told that the store is away"
    assert not wrong, f"not all were told so: {wrong[:10]}"
    return max(meanwhile, key=lambda each: each.seconds)


def _check_leases(c: Cluster, away_us: Moment) -> None:
    """Under the long lease nothing was killed; under the short one all died in time, and only then began again."""
    marks = c.marks()
    by_host = {(worker.folder / "host-id").read_text().strip(): worker for worker in c.workers}
    hosts, seen = _hosts(c), Counter[object]()
    for work, run, number in _lasting(marks, away_us):
        lease = by_host[hosts[run, number]].settings["lease_seconds"]
        seen[lease] += 1
        if lease == LONG_LEASE:
            assert _of(marks, work, number, END), f"{work} was killed by an outage shorter than its lease"
            assert not _of(marks, work, number + 1, START), f"{work} was started again, though it lived"
            continue
        assert not _of(marks, work, number, END), f"{work} outlived its lease"
        last_us = _last_breath(c, work, number)
        lived = (last_us - away_us) / SECOND
        assert lived < SHORT_LEASE + DYING_SECONDS, f"{work} lived {lived:.1f} s without the store"
        (again,) = _of(marks, work, number + 1, START)
        assert again.at > last_us, f"{work} was started again while it lived"
    assert len(seen) == 2, f"there were programs under one lease only: {seen}"


def _lasting(marks: Sequence[Mark], moment: Moment) -> list[tuple[str, str, int]]:
    """Work, run and number of what was running then: on a busy machine not always a first attempt."""
    ended = {mark.of for mark in marks if mark.event == END and mark.at < moment}
    begun = [mark for mark in marks if mark.event == START and mark.at < moment and mark.work.startswith(LASTING)]
    latest = {mark.work: mark for mark in sorted(begun, key=lambda mark: mark.attempt)}
    return [(mark.work, *mark.of) for mark in latest.values() if mark.of not in ended]


def _hosts(c: Cluster) -> dict[tuple[str, int], str]:
    found = c.ask("SELECT wire_id, number, host FROM attempts")
    return {(row["wire_id"].partition("_attempt_")[0], row["number"]): row["host"] for row in found}


def _of(marks: Sequence[Mark], work: str, attempt: int, event: str) -> list[Mark]:
    return [mark for mark in marks if (mark.work, mark.attempt, mark.event) == (work, attempt, event)]


def _last_breath(c: Cluster, work: str, attempt: int) -> Moment:
    """The line that it died in does not count."""
    lines = (c.world.folder / f"breaths-{work}-{attempt}").read_text().split("\n")[:-1]
    return round(float(lines[-1]) * SECOND)
