"""Runs over the wire, with boto3; what a worker would do the tests do themselves."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.faces.glue.calls import make_job, refused, state_of, states_of
from tests.faces.http.served import Account, Served
from waterclock.domain.run import RunState
from waterclock.stores.ops.reading import get_attempt


def start(glue: Any, job: str = "job", **more: Any) -> str:
    return str(glue.start_job_run(JobName=job, **more)["JobRunId"])


def test_a_run_goes_from_starting_to_succeeded(glue: Any, served: Served) -> None:
    make_job(glue)
    run_id = start(glue)
    assert re.fullmatch("jr_[0-9a-f]{64}", run_id)
    run = glue.get_job_run(JobName="job", RunId=run_id)["JobRun"]
    assert (run["Id"], run["JobRunState"], run["Attempt"], run["JobName"]) == (run_id, "STARTING", 0, "job")
    assert (run["ExecutionTime"], run["PredecessorRuns"], run["Timeout"]) == (0, [], 2880)
    assert {"CompletedOn", "TriggerName", "PreviousRunId", "ErrorMessage"} & run.keys() == set()
    served.begin(run_id)
    assert state_of(glue, run_id) == "RUNNING"
    served.end(run_id)
    run = glue.get_job_run(JobName="job", RunId=run_id, PredecessorsIncluded=True)["JobRun"]
    assert run["JobRunState"] == "SUCCEEDED"
    assert run["CompletedOn"] >= run["StartedOn"]
    assert abs(run["StartedOn"] - datetime.now(UTC)) < timedelta(minutes=1)
    assert run["LogGroupName"] == "/aws-glue/python-jobs"


def test_the_id_that_is_returned_is_the_id_that_is_stored_and_no_trigger_is(
    glue: Any, served: Served, account: Account
) -> None:
    make_job(glue)
    run_id = start(glue)
    stored = served.run(served.database.read(get_attempt, org_id=account.org_id, wire_id=run_id))
    assert stored is not None
    assert (stored.trigger_id, stored.owner, stored.requested_by) == (None, "author", "author")


def test_a_failure_tells_why(glue: Any, served: Served) -> None:
    make_job(glue)
    run_id = start(glue)
    served.begin(run_id)
    served.end(run_id, RunState.FAILED, "exit code 3")
    run = glue.get_job_run(JobName="job", RunId=run_id)["JobRun"]
    assert (run["JobRunState"], run["ErrorMessage"]) == ("FAILED", "exit code 3")


def test_retries_are_runs_with_their_own_ids(glue: Any, served: Served) -> None:
    make_job(glue, MaxRetries=2)
    first = start(glue)
    ids = [first, f"{first}_attempt_1", f"{first}_attempt_2"]
    for run_id in ids:
        served.begin(run_id)
        served.end(run_id, RunState.FAILED, "no")
    runs = glue.get_job_runs(JobName="job")["JobRuns"]
    assert [run["Id"] for run in runs] == ids[::-1]
    assert [run["Attempt"] for run in runs] == [2, 1, 0]
    assert [run.get("PreviousRunId") for run in runs] == [ids[1], ids[0], None]
    assert {run["JobRunState"] for run in runs} == {"FAILED"}


def test_a_run_names_the_one_before_it(glue: Any, served: Served) -> None:
    make_job(glue)
    make_job(glue, "other")
    first = start(glue)
    served.begin(first)
    served.end(first, RunState.FAILED)
    again = start(glue, JobRunId=first)
    assert glue.get_job_run(JobName="job", RunId=again)["JobRun"]["PreviousRunId"] == first
    for job, previous in (("job", "jr_" + "0" * 64), ("other", first)):
        with refused("EntityNotFoundException"):
            start(glue, job, JobRunId=previous)
    assert states_of(glue, "other") == []


def test_arguments_of_the_run_go_over_the_defaults_and_under_the_fixed(glue: Any) -> None:
    make_job(glue, DefaultArguments={"--a": "1", "--b": "1"}, NonOverridableArguments={"--c": "1"})
    run_id = start(glue, Arguments={"--b": "2", "--c": "2", "--d": "2"})
    arguments = glue.get_job_run(JobName="job", RunId=run_id)["JobRun"]["Arguments"]
    assert arguments == {"--a": "1", "--b": "2", "--c": "1", "--d": "2"}


def test_a_run_has_its_own_time_and_size(glue: Any) -> None:
    make_job(glue, Timeout=60)
    own: dict[str, Any] = {
        "Timeout": 5,
        "WorkerType": "G.1X",
        "NumberOfWorkers": 3,
        "NotificationProperty": {"NotifyDelayAfter": 2},
    }
    run = glue.get_job_run(JobName="job", RunId=start(glue, **own))["JobRun"]
    assert {name: run[name] for name in own} == own
    with refused("InvalidInputException", "Timeout"):
        start(glue, Timeout=10081)


def test_a_job_has_as_many_runs_at_once_as_it_may(glue: Any, served: Served) -> None:
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 2})
    first, second = start(glue), start(glue)
    with refused("ConcurrentRunsExceededException", "Job with name job already running"):
        start(glue)
    served.begin(first)
    served.end(first)
    third = start(glue)
    assert [state_of(glue, run_id) for run_id in (first, second, third)] == ["SUCCEEDED", "STARTING", "STARTING"]


def test_a_queued_run_waits_for_its_slot_and_says_so(glue: Any, served: Served) -> None:
    make_job(glue, JobRunQueuingEnabled=True)
    first, second = start(glue), start(glue)
    waiting = glue.get_job_run(JobName="job", RunId=second)["JobRun"]
    assert waiting["JobRunState"] == "WAITING"
    assert "concurrent" in waiting["StateDetail"]
    served.begin(first)
    served.end(first)
    run = glue.get_job_run(JobName="job", RunId=second)["JobRun"]
    assert run["JobRunState"] == "STARTING"
    assert "StateDetail" not in run


def test_runs_come_newest_first_and_in_pages(glue: Any) -> None:
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 100})
    ids = [start(glue) for _ in range(7)]
    pages = list(glue.get_paginator("get_job_runs").paginate(JobName="job", PaginationConfig={"PageSize": 3}))
    assert [len(page["JobRuns"]) for page in pages] == [3, 3, 1]
    assert [run["Id"] for page in pages for run in page["JobRuns"]] == ids[::-1]
    assert "NextToken" not in pages[-1]


def test_stopping_answers_for_each_id(glue: Any, served: Served) -> None:
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 9})
    make_job(glue, "other")
    running, ended, unclaimed, foreign = start(glue), start(glue), start(glue), start(glue, "other")
    served.begin(running)
    served.begin(ended)
    served.end(ended)
    unknown = "jr_" + "f" * 64
    ids = [running, ended, unknown, unclaimed, foreign, running]
    answer = glue.batch_stop_job_run(JobName="job", JobRunIds=ids)
    submitted = [{"JobName": "job", "JobRunId": run_id} for run_id in (running, unclaimed)]
    assert answer["SuccessfulSubmissions"] == submitted
    codes = {error["JobRunId"]: error["ErrorDetail"]["ErrorCode"] for error in answer["Errors"]}
    assert codes == {
        ended: "JobRunInTerminalStateException",
        unknown: "EntityNotFoundException",
        foreign: "EntityNotFoundException",
    }
    assert state_of(glue, running) == "STOPPING"
    assert state_of(glue, unclaimed) == "STOPPED"
    assert state_of(glue, ended) == "SUCCEEDED"
    assert state_of(glue, foreign, "other") == "STARTING"
    again = glue.batch_stop_job_run(JobName="job", JobRunIds=[running])
    assert (again["SuccessfulSubmissions"], again["Errors"]) == ([{"JobName": "job", "JobRunId": running}], [])
    served.end(running, RunState.STOPPED)
    assert state_of(glue, running) == "STOPPED"


def test_a_stop_takes_up_to_25_ids(glue: Any) -> None:
    make_job(glue)
    answer = glue.batch_stop_job_run(JobName="job", JobRunIds=[f"jr_{number}" for number in range(25)])
    assert (len(answer["Errors"]), answer["SuccessfulSubmissions"]) == (25, [])
    with refused("InvalidInputException", "jobRunIds"):
        glue.batch_stop_job_run(JobName="job", JobRunIds=[f"jr_{number}" for number in range(26)])


def test_the_history_of_a_deleted_job_stays_readable_by_id(glue: Any, served: Served) -> None:
    make_job(glue)
    run_id = start(glue)
    served.begin(run_id)
    served.end(run_id)
    glue.delete_job(JobName="job")
    assert state_of(glue, run_id) == "SUCCEEDED"
    make_job(glue)
    assert states_of(glue) == []


@pytest.mark.parametrize("job", ["other", "nope"])
def test_a_run_is_found_under_its_own_job_only(glue: Any, job: str) -> None:
    make_job(glue)
    make_job(glue, "other")
    run_id = start(glue)
    with refused("EntityNotFoundException"):
        glue.get_job_run(JobName=job, RunId=run_id)
