"""The two rule sets, side by side, as a client meets them (SPEC 4, rules 5 to 8 and 11)."""

from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused, state_of, states_of
from tests.faces.http.served import SCRIPT, Account, Served
from tests.faces.http.ticking import fire_until
from waterclock.domain.run import RunState
from waterclock.services.jobs import Jobs
from waterclock.services.paging import PageRequest
from waterclock.services.runs import Runs
from waterclock.services.triggers import Triggers

NIGHTLY = "cron(15 12 * * ? *)"


@pytest.fixture
def aws_account(served_as_aws: Served) -> Account:
    return served_as_aws.account()


@pytest.fixture
def aws(aws_account: Account) -> Any:
    return aws_account.client()


def fire(client: Any) -> None:
    client.start_trigger(Name="trigger")


def only_run(client: Any, job: str) -> str:
    (run,) = client.get_job_runs(JobName=job)["JobRuns"]
    return str(run["Id"])


def running_trigger(client: Any) -> None:
    make_trigger(client, Type="SCHEDULED", Schedule=NIGHTLY, StartOnCreation=True)


def test_guarded_actions_run_in_their_order_whatever_the_outcome(glue: Any, served: Served) -> None:
    jobs = ("a", "b", "c")
    for name in jobs:
        make_job(glue, name)
    make_trigger(glue, jobs=jobs)
    fire(glue)
    runs = {name: only_run(glue, name) for name in jobs}

    def states() -> list[str]:
        return [state_of(glue, runs[name], name) for name in jobs]

    assert states() == ["STARTING", "WAITING", "WAITING"]
    served.begin(runs["a"])
    served.end(runs["a"], RunState.FAILED, "no matter")
    assert states() == ["FAILED", "STARTING", "WAITING"]
    served.begin(runs["b"])
    assert states() == ["FAILED", "RUNNING", "WAITING"]
    served.end(runs["b"])
    assert states() == ["FAILED", "SUCCEEDED", "STARTING"]


def test_aws_actions_run_all_at_once(aws: Any) -> None:
    for name in ("a", "b"):
        make_job(aws, name)
    make_trigger(aws, jobs=("a", "b"))
    fire(aws)
    assert states_of(aws, "a") == states_of(aws, "b") == ["STARTING"]


def test_guarded_a_fire_over_the_cap_is_skipped_with_the_reason(glue: Any, account: Account) -> None:
    make_job(glue)
    make_trigger(glue)
    fire(glue)
    fire(glue)
    assert states_of(glue) == ["STARTING"]
    served = account.served
    triggers = Triggers(served.database, served.rules, {})
    fires = served.run(triggers.fires(account.admin(), "glue", "trigger", PageRequest())).items
    assert len(fires) == 2


def test_aws_a_fire_over_the_cap_is_a_failed_run_that_says_so(aws: Any) -> None:
    make_job(aws)
    make_trigger(aws)
    fire(aws)
    fire(aws)
    failed, _ = aws.get_job_runs(JobName="job")["JobRuns"]
    assert failed["JobRunState"] == "FAILED"
    assert "concurrent" in failed["ErrorMessage"]


@pytest.mark.parametrize("rules", ["guarded", "aws"])
def test_a_fire_over_the_cap_waits_where_the_job_queues(glue: Any, aws: Any, rules: str) -> None:
    client = glue if rules == "guarded" else aws
    make_job(client, JobRunQueuingEnabled=True)
    make_trigger(client)
    fire(client)
    fire(client)
    assert states_of(client) == ["WAITING", "STARTING"]


def test_guarded_a_running_trigger_must_be_stopped_before_it_is_changed(glue: Any) -> None:
    make_job(glue)
    running_trigger(glue)
    with refused("InvalidInputException", "stop it first"):
        glue.update_trigger(Name="trigger", TriggerUpdate={"Schedule": "rate(1 day)"})
    with refused("InvalidInputException", "stop it first"):
        glue.delete_trigger(Name="trigger")
    glue.stop_trigger(Name="trigger")
    glue.update_trigger(Name="trigger", TriggerUpdate={"Schedule": "rate(1 day)"})
    glue.delete_trigger(Name="trigger")


def test_aws_a_running_trigger_may_be_changed_and_goes_on(aws: Any) -> None:
    make_job(aws)
    running_trigger(aws)
    answer = aws.update_trigger(Name="trigger", TriggerUpdate={"Schedule": "rate(1 day)"})["Trigger"]
    assert (answer["State"], answer["Schedule"]) == ("ACTIVATED", "rate(1 day)")
    aws.delete_trigger(Name="trigger")


def test_guarded_a_job_in_a_running_trigger_is_not_updated(glue: Any) -> None:
    make_job(glue)
    running_trigger(glue)
    with refused("InvalidInputException", "'trigger'.*stop"):
        glue.update_job(JobName="job", JobUpdate={"Command": SCRIPT})
    glue.stop_trigger(Name="trigger")
    glue.update_job(JobName="job", JobUpdate={"Command": SCRIPT})


def test_guarded_a_job_with_a_live_run_is_neither_updated_nor_deleted(glue: Any, served: Served) -> None:
    make_job(glue)
    run_id = glue.start_job_run(JobName="job")["JobRunId"]
    with refused("InvalidInputException", "live run"):
        glue.update_job(JobName="job", JobUpdate={"Command": SCRIPT})
    with refused("InvalidInputException", "live run"):
        glue.delete_job(JobName="job")
    served.begin(run_id)
    served.end(run_id)
    glue.update_job(JobName="job", JobUpdate={"Command": SCRIPT})
    glue.delete_job(JobName="job")


def test_guarded_a_job_in_any_trigger_is_not_deleted(glue: Any) -> None:
    make_job(glue)
    make_trigger(glue)
    with refused("InvalidInputException", "'trigger'.*delete"):
        glue.delete_job(JobName="job")
    glue.delete_trigger(Name="trigger")
    glue.delete_job(JobName="job")


def test_aws_a_job_in_use_may_be_updated_and_deleted_and_a_later_fire_is_an_error(
    aws: Any, aws_account: Account
) -> None:
    make_job(aws)
    make_trigger(aws)
    run_id = aws.start_job_run(JobName="job")["JobRunId"]
    aws.update_job(JobName="job", JobUpdate={"Command": SCRIPT})
    aws.delete_job(JobName="job")
    assert state_of(aws, run_id) == "STARTING"
    fire(aws)
    served = aws_account.served
    runs = Runs(served.database, Jobs(served.database, served.rules))
    (gone,) = served.run(runs.list(aws_account.admin(), ["glue"], [RunState.ERROR], PageRequest())).items
    shown = aws.get_job_run(JobName="job", RunId=gone.wire_id)["JobRun"]
    assert (shown["JobRunState"], shown["TriggerName"]) == ("ERROR", "trigger")
    assert "'job'" in shown["ErrorMessage"]


def test_guarded_stopping_a_trigger_stops_its_live_runs(glue: Any, served: Served, account: Account) -> None:
    make_job(glue)
    make_trigger(glue, Type="SCHEDULED", Schedule="0/1 * * * * ?", StartOnCreation=True)
    run_id = wait_for_fire(served, glue)
    glue.stop_trigger(Name="trigger")
    assert state_of(glue, run_id) == "STOPPED"


def test_aws_stopping_a_trigger_lets_its_runs_go_on(aws: Any, served_as_aws: Served) -> None:
    make_job(aws)
    make_trigger(aws, Type="SCHEDULED", Schedule="0/1 * * * * ?", StartOnCreation=True)
    run_id = wait_for_fire(served_as_aws, aws)
    aws.stop_trigger(Name="trigger")
    assert state_of(aws, run_id) == "STARTING"


def wait_for_fire(served: Served, client: Any) -> str:
    """What a ticker does, until the trigger's second has come."""
    fire_until(served, lambda: bool(client.get_job_runs(JobName="job")["JobRuns"]))
    return str(client.get_job_runs(JobName="job")["JobRuns"][-1]["Id"])
