"""One due instant of a trigger becomes runs: which start, which wait, which are skipped, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.job import Job
from waterclock.domain.moment import Moment
from waterclock.domain.run import LIVE, RunState, WaitReason
from waterclock.domain.trigger import Action, FireRules, OverCap, Target


@dataclass(slots=True, kw_only=True)
class PlannedRun:
    """Not frozen, as `Attempt` is not."""

    action_no: int
    action: Action
    job: Job | None
    state: RunState
    wait_reason: WaitReason | None = None
    message: str | None = None
    has_next: bool = False  # an action after it may be waiting for its end


class SkippedFor(StrEnum):
    """Why due instants were not run."""

    MISSED = "missed"  # later than their grace
    COALESCED = "coalesced"  # a later one runs for them
    OVER_CAP = "over cap"  # the job had its number of concurrent runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Due instants of one trigger that were not run: their ledger row, as it is told to the program."""

    namespace: str
    name: str  # of the trigger
    why: SkippedFor
    first_at: Moment
    last_at: Moment
    count: int
    reason: str
    instants: tuple[Moment, ...] = ()  # of those that were missed, the latest


def plan_actions(
    actions: Sequence[Action],
    jobs: Mapping[str, Job],
    tallies: Mapping[int, Tally],
    rules: FireRules,
    *,
    in_turn: bool = False,
) -> list[PlannedRun]:
    """The tallies are counted up, so that the next instant of the same batch sees this one's runs.

    `in_turn`: an earlier instant of the same round runs, and this one, where it is over the cap, waits for its turn.
    """
    planned: list[PlannedRun] = []
    earlier_lives = False
    for number, action in enumerate(actions):
        has_next = rules.sequential and number + 1 < len(actions)
        wait = rules.sequential and earlier_lives
        run = _plan(number, action, jobs, tallies, rules, wait=wait, has_next=has_next, in_turn=in_turn)
        planned.append(run)
        earlier_lives = earlier_lives or run.state in LIVE
    return planned


def _plan(
    number: int,
    action: Action,
    jobs: Mapping[str, Job],
    tallies: Mapping[int, Tally],
    rules: FireRules,
    *,
    wait: bool,
    has_next: bool,
    in_turn: bool,
) -> PlannedRun:
    job = jobs.get(action.name) if action.target is Target.JOB else None
    run = PlannedRun(action_no=number, action=action, job=job, state=RunState.STARTING, has_next=has_next)
    if action.target is Target.CRAWLER:
        return replace(run, state=RunState.SKIPPED, message=f"crawler {action.name!r} is kept but never run here")
    if job is None:
        return replace(run, state=RunState.ERROR, message=f"job {action.name!r} does not exist any more")
    tally = tallies[job.id]
    admission = admit(job.spec, tally, in_turn=in_turn)
    if admission is Admission.REFUSE:
        over = f"job {job.name!r} already has its {job.spec.max_concurrent} concurrent run(s)"
        return replace(run, state=RunState.SKIPPED if rules.over_cap is OverCap.SKIP else RunState.FAILED, message=over)
    tally.live += 1
    if wait:
        return replace(run, state=RunState.WAITING, wait_reason=WaitReason.ACTION)
    if admission is Admission.WAIT:
        return replace(run, state=RunState.WAITING, wait_reason=WaitReason.SLOT)
    tally.active += 1
    return run
