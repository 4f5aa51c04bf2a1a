"""One fire's actions under both rule sets, and the cap."""

from collections.abc import Mapping

from waterclock.domain.admission import Admission, Tally, admit, free_slots
from waterclock.domain.firing import plan_actions
from waterclock.domain.job import Job, JobSpec, merge_arguments
from waterclock.domain.rules import AWS, GUARDED
from waterclock.domain.run import RunState, WaitReason
from waterclock.domain.trigger import Action, Target


def job(name: str, number: int, **spec: object) -> Job:
    return Job(
        id=number,
        org_id=1,
        namespace="glue",
        name=name,
        owner="ann",
        version=1,
        spec=JobSpec(kind="python", **spec),  # type: ignore[arg-type]
        definition={},
        tags={},
        created_at=0,
        updated_at=0,
    )


def on(*names: str) -> list[Action]:
    return [Action(target=Target.JOB, name=name) for name in names]


def known(*jobs: Job) -> Mapping[str, Job]:
    return {each.name: each for each in jobs}


def tallies(*jobs: Job, live: int = 0) -> dict[int, Tally]:
    return {each.id: Tally(live=live, active=live) for each in jobs}


def test_guarded_starts_the_first_action_and_lets_the_others_wait() -> None:
    a, b = job("a", 1), job("b", 2)
    first, second = plan_actions(on("a", "b"), known(a, b), tallies(a, b), GUARDED.fire)
    assert (first.state, first.has_next) == (RunState.STARTING, True)
    assert (second.state, second.wait_reason, second.has_next) == (RunState.WAITING, WaitReason.ACTION, False)


def test_aws_starts_all_actions_at_once() -> None:
    a, b = job("a", 1), job("b", 2)
    planned = plan_actions(on("a", "b"), known(a, b), tallies(a, b), AWS.fire)
    assert [(run.state, run.has_next) for run in planned] == [(RunState.STARTING, False)] * 2


def test_an_action_whose_job_is_gone_is_an_error_and_holds_nobody_up() -> None:
    b = job("b", 2)
    first, second = plan_actions(on("gone", "b"), known(b), tallies(b), GUARDED.fire)
    assert first.state is RunState.ERROR
    assert "gone" in (first.message or "")
    assert second.state is RunState.STARTING


def test_over_the_cap_guarded_skips_and_aws_fails_both_with_the_reason() -> None:
    a = job("a", 1, max_concurrent=1)
    for rules, state in ((GUARDED, RunState.SKIPPED), (AWS, RunState.FAILED)):
        (run,) = plan_actions(on("a"), known(a), tallies(a, live=1), rules.fire)
        assert run.state is state
        assert "1 concurrent" in (run.message or "")


def test_over_the_cap_a_queueing_job_waits() -> None:
    a = job("a", 1, max_concurrent=1, queueing=True)
    (run,) = plan_actions(on("a"), known(a), tallies(a, live=1), GUARDED.fire)
    assert (run.state, run.wait_reason) == (RunState.WAITING, WaitReason.SLOT)


def test_the_runs_of_one_batch_count_for_the_next_instant() -> None:
    a = job("a", 1, max_concurrent=1)
    counted = tallies(a)
    states = [plan_actions(on("a"), known(a), counted, GUARDED.fire)[0].state for _ in range(2)]
    assert states == [RunState.STARTING, RunState.SKIPPED]


def test_a_crawler_is_skipped_with_the_reason() -> None:
    (run,) = plan_actions([Action(target=Target.CRAWLER, name="c")], {}, {}, GUARDED.fire)
    assert run.state is RunState.SKIPPED
    assert "crawler" in (run.message or "")


def test_without_a_cap_everything_starts() -> None:
    spec = JobSpec(kind="python", max_concurrent=0)
    assert admit(spec, Tally(live=10_000, active=10_000)) is Admission.START
    assert free_slots(spec, Tally()) is None


def test_waiting_runs_count_for_admission_but_hold_no_slot() -> None:
    spec = JobSpec(kind="python", max_concurrent=2, queueing=True)
    assert admit(spec, Tally(live=2, active=1)) is Admission.WAIT
    assert free_slots(spec, Tally(live=2, active=1)) == 1


def test_fixed_arguments_win_over_the_runs_over_the_triggers_over_the_defaults() -> None:
    spec = JobSpec(
        kind="python",
        default_arguments={"--a": "default", "--b": "default", "--c": "default", "--d": "default"},
        fixed_arguments={"--d": "fixed"},
    )
    merged = merge_arguments(spec, of_trigger={"--b": "trigger", "--c": "trigger"}, of_run={"--c": "run", "--d": "run"})
    assert merged == {"--a": "default", "--b": "trigger", "--c": "run", "--d": "fixed"}
