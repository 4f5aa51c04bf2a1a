"""A volley: fires of one instant, decided before it, with every row that they leave.

Only what is plain is made ready like this: one run of a program's own job, at its instant, for an executor of the
process that fires it. All else (what was missed, waits or is over its cap) is decided when it fires, as ever.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.firing import PlannedRun
from waterclock.domain.job import Job
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.planning import plan_us
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, Target
from waterclock.stores.alike import Alike
from waterclock.stores.base import Values
from waterclock.stores.ops.bundle import Bundle, call_of
from waterclock.stores.ops.dropping import gone_with_jobs
from waterclock.stores.ops.fire_rows import advance_row, fire_row, new_run
from waterclock.stores.ops.foreseeing import Foreseen
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.newruns import numbered
from waterclock.stores.ops.rows import misfire_of, schedule_of

NUMBERS_EACH = 3  # a fire, a run and an attempt
_STAMPED = ("created_at", "updated_at", "lease_until", "at")  # by when it fires, not by when it was made ready


@dataclass(frozen=True, slots=True, kw_only=True)
class Volley:
    """To be written as it is, between `due_at` and `until`, if triggers and jobs are still of these versions."""

    due_at: Moment
    until: Moment  # later than this, something of it is missed or due again
    triggers: Mapping[int, int]  # versions by id
    jobs: Mapping[int, int]
    rows: Mapping[str, Sequence[Values]]  # for `run_together`, but for what goes
    last: Sequence[bool]  # for each trigger: whether it goes with this fire, and its job with it
    ttl_seconds: float
    bundles: Sequence[Bundle]
    claimed: Sequence[Claimed]
    exhausted: Sequence[str]  # names of triggers that fire for the last time
    queues: Counter[str]  # how much room it takes

    def __len__(self) -> int:
        return len(self.triggers)

    def stamped(self, now: Moment) -> dict[str, Sequence[Values]]:
        """What it leaves."""
        stamps = dict(zip(_STAMPED, (now, now, now + seconds(self.ttl_seconds), now), strict=True))
        return {name: _stamped(rows, stamps) for name, rows in self.rows.items()}

    def gone(self) -> dict[str, list[Values]]:
        """For `run_together`, too."""
        of_triggers, of_jobs = ([*compress(ids, self.last)] for ids in (self.triggers, self.jobs))
        return gone_with_jobs(of_triggers, of_jobs)


def _stamped(rows: Sequence[Values], stamps: Values) -> Sequence[Values]:
    if not isinstance(rows, Alike):
        return rows
    return rows.sharing({name: stamp for name, stamp in stamps.items() if name in rows.shared})


def volley(
    foreseen: Sequence[Foreseen], due_at: Moment, takers: Mapping[str, Taker], numbers: Iterator[int]
) -> Volley | None:
    """Of those that are plain; None where there are none."""
    fires: list[Values] = []
    new: list[NewRun] = []
    advanced: list[Values] = []
    jobs: list[Job] = []
    triggers: dict[int, int] = {}
    until: Moment | None = None
    for each in foreseen:
        row, job = each.row, each.job
        taker = takers.get(job.spec.queue) if job and each.is_free else None
        misfire = misfire_of(row["misfire"])
        plan = plan_us(schedule_of(row["schedule"]), due_at, due_at, misfire)
        if job is None or taker is None or plan.fires != (due_at,) or plan.skips:
            continue
        fire_id = next(numbers)
        last = plan.next_at is None
        run = PlannedRun(action_no=0, action=_action(row["name"]), job=job, state=RunState.STARTING)
        fires.append(fire_row(row, due_at, fire_id, due_at))
        new.append(new_run(row, run, due_at, fire_id, taker, lone=True, last=last))
        jobs.append(job)
        triggers[row["id"]] = row["version"]
        if not last:
            advanced.append(advance_row(row, plan.next_at, job.id))
        in_time = due_at + misfire.grace_us
        until = min(until or in_time, in_time, *(() if plan.next_at is None else (plan.next_at - 1,)))
    if until is None:
        return None
    moves = Moves()
    inserted, rows = numbered(new, numbers, due_at, moves)
    claimed = [each.claimed for each in inserted if each.claimed]
    made = {"insert_fire": fires, **rows, **moves.batch(due_at)}
    return Volley(
        due_at=due_at,
        until=until,
        triggers=triggers,
        jobs={job.id: job.version for job in jobs},
        rows={**{name: Alike.of(some) for name, some in made.items() if some}, "advance_trigger": advanced},
        last=[run.last for run in new],
        ttl_seconds=next(iter(takers.values())).ttl_seconds,
        bundles=_bundles(claimed),
        claimed=claimed,
        exhausted=[run.job_name for run in new if run.last],
        queues=Counter(job.spec.queue for job in jobs),
    )


def _action(name: str) -> Action:
    """A program's trigger has one: the job of its own name."""
    return Action(target=Target.JOB, name=name)


def _bundles(claimed: Sequence[Claimed]) -> list[Bundle]:
    calls = (call for each in claimed if (call := call_of(each.lone)))
    return list({call.bundle.id: call.bundle for call in calls}.values())
