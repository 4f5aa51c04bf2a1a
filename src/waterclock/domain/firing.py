"""One due instant of a trigger becomes runs: which start, which wait, which are skipped, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.job import Job
from waterclock.domain.run import LIVE, RunState, WaitReason
from waterclock.domain.trigger import Action, FireRules, OverCap, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    action_no: int
    action: Action
    job: Job | None
    state: RunState
    wait_reason: WaitReason | None = None
    message: str | None = None
    has_next: bool = False  # an action after it may be waiting for its end


def plan_actions(
    actions: Sequence[Action], jobs: Mapping[str, Job], tallies: Mapping[int, Tally], rules: FireRules
) -> list[PlannedRun]:
    """The tallies are counted up, so that the next instant of the same batch sees this one's runs."""
    planned: list[PlannedRun] = []
    earlier_lives = False
    for number, action in enumerate(actions):
        has_next = rules.sequential and number + 1 < len(actions)
        run = _plan(number, action, jobs, tallies, rules, wait=rules.sequential and earlier_lives, has_next=has_next)
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
) -> PlannedRun:
    def run(state: RunState, reason: WaitReason | None = None, message: str | None = None) -> PlannedRun:
        return PlannedRun(
            action_no=number,
            action=action,
            job=job,
            state=state,
            wait_reason=reason,
            message=message,
            has_next=has_next,
        )

    job = jobs.get(action.name) if action.target is Target.JOB else None
    if action.target is Target.CRAWLER:
        return run(RunState.SKIPPED, message=f"crawler {action.name!r} is kept but never run here")
    if job is None:
        return run(RunState.ERROR, message=f"job {action.name!r} does not exist any more")
    tally = tallies[job.id]
    admission = admit(job.spec, tally)
    if admission is Admission.REFUSE:
        over = f"job {job.name!r} already has its {job.spec.max_concurrent} concurrent run(s)"
        return run(RunState.SKIPPED if rules.over_cap is OverCap.SKIP else RunState.FAILED, message=over)
    tally.live += 1
    if wait:
        return run(RunState.WAITING, WaitReason.ACTION)
    if admission is Admission.WAIT:
        return run(RunState.WAITING, WaitReason.SLOT)
    tally.active += 1
    return run(RunState.STARTING)
