"""Jobs over the wire, with boto3."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.faces.glue.calls import make_job, refused
from tests.faces.http.raw import signed_call
from tests.faces.http.served import SCRIPT, Account, Served
from waterclock.domain.access import Role


def test_a_job_comes_back_as_it_was_given(glue: Any) -> None:
    given = {
        "Description": "nightly",
        "Role": "arn:aws:iam::123456789012:role/x",
        "ExecutionProperty": {"MaxConcurrentRuns": 3},
        "Command": {"Name": "glueetl", "ScriptLocation": "s3://b/s.py", "PythonVersion": "3"},
        "DefaultArguments": {"--a": "1", "--b": ""},
        "NonOverridableArguments": {"--c": "3"},
        "MaxRetries": 2,
        "Timeout": 10,
        "GlueVersion": "4.0",
        "NumberOfWorkers": 2,
        "WorkerType": "G.2X",
        "NotificationProperty": {"NotifyDelayAfter": 5},
        "JobRunQueuingEnabled": True,
    }
    assert glue.create_job(Name="job", **given)["Name"] == "job"
    job = glue.get_job(JobName="job")["Job"]
    assert {name: job[name] for name in given} == given
    assert job["MaxCapacity"] == 4.0
    assert abs(job["CreatedOn"] - datetime.now(UTC)) < timedelta(minutes=1)
    assert job["CreatedOn"] == job["LastModifiedOn"]


def test_what_was_left_out_shows_the_defaults_of_aws(glue: Any) -> None:
    glue.create_job(Name="job", Role="r", Command={"Name": "pythonshell", "ScriptLocation": "a.py"})
    job = glue.get_job(JobName="job")["Job"]
    assert job["ExecutionProperty"] == {"MaxConcurrentRuns": 1}
    assert (job["MaxRetries"], job["Timeout"], job["MaxCapacity"]) == (0, 2880, 0.0625)
    assert job["Command"] == {"Name": "pythonshell", "ScriptLocation": "a.py", "PythonVersion": "3"}


def test_a_name_is_taken_once_in_an_account(glue: Any, served: Served) -> None:
    make_job(glue)
    with refused("AlreadyExistsException", "'job'"):
        make_job(glue)
    make_job(served.account().client())


@pytest.mark.parametrize("name", ["작업 🚀", "việc", "a" * 255, "🚀" * 255, " ", "a/b?c=d"])
def test_any_name_of_the_model_serves(glue: Any, name: str) -> None:
    make_job(glue, name)
    assert glue.get_job(JobName=name)["Job"]["Name"] == name
    run_id = glue.start_job_run(JobName=name)["JobRunId"]
    assert glue.get_job_run(JobName=name, RunId=run_id)["JobRun"]["JobName"] == name


@pytest.mark.parametrize("name", ["a" * 256, "line\nbreak", "nul\0"])
def test_other_names_are_refused_and_leave_nothing(glue: Any, name: str) -> None:
    with refused("InvalidInputException", "name"):
        make_job(glue, name)
    assert glue.list_jobs()["JobNames"] == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"MaxRetries": 11}, "MaxRetries"),
        ({"MaxRetries": -1}, "MaxRetries"),
        ({"Timeout": 10081}, "Timeout"),
        ({"ExecutionProperty": {"MaxConcurrentRuns": 0}}, "MaxConcurrentRuns"),
        ({"ExecutionProperty": {"MaxConcurrentRuns": -5}}, "MaxConcurrentRuns"),
        ({"MaxCapacity": 1.0, "WorkerType": "G.1X", "NumberOfWorkers": 2}, "Max Capacity"),
        ({"Command": {"ScriptLocation": "a.py"}}, "Command.Name"),
        ({"Command": {"Name": " "}}, "Command.Name"),
        ({"Command": {"Name": "x" * 65}}, "Command.Name"),
        ({"Command": {**SCRIPT, "ScriptLocation": "../other/a.py"}}, "ScriptLocation"),
        ({"Command": {**SCRIPT, "ScriptLocation": "a/../../b.py"}}, "ScriptLocation"),
        ({"Command": {**SCRIPT, "ScriptLocation": "a\0b"}}, "scriptLocation"),
        ({"Command": {**SCRIPT, "PythonVersion": "4"}}, "pythonVersion"),
        ({"WorkerType": "X.9"}, "workerType"),
        ({"GlueVersion": "latest"}, "glueVersion"),
        ({"Description": "x" * 2049}, "description"),
        ({"Tags": {f"k{number}": "" for number in range(51)}}, "tags"),
    ],
)
def test_a_job_that_cannot_be_is_refused_by_the_name_of_the_member(
    glue: Any, given: dict[str, Any], named: str
) -> None:
    with refused("InvalidInputException", named):
        make_job(glue, **given)
    assert glue.list_jobs()["JobNames"] == []


@pytest.mark.parametrize("kind", ["PYTHON", "glueray", "shell", "java", "r", "nobody-knows-this"])
def test_any_command_is_accepted_as_aws_clients_expect(glue: Any, kind: str) -> None:
    make_job(glue, Command={"Name": kind})
    assert glue.get_job(JobName="job")["Job"]["Command"]["Name"] == kind


@pytest.mark.parametrize("location", ["a.py", "a/../b.py", "s3://b/../k.py", "file:///x/y.py", "..a/b.py"])
def test_locations_that_stay_where_they_may_are_accepted(glue: Any, location: str) -> None:
    make_job(glue, Command={**SCRIPT, "ScriptLocation": location})


def test_an_update_overwrites_the_whole_definition(glue: Any) -> None:
    make_job(glue, Description="old", MaxRetries=3, DefaultArguments={"--a": "1"}, Tags={"team": "x"})
    before = glue.get_job(JobName="job")["Job"]
    command = {"Name": "shell", "ScriptLocation": "b.sh"}
    assert glue.update_job(JobName="job", JobUpdate={"Command": command, "Timeout": 7})["JobName"] == "job"
    job = glue.get_job(JobName="job")["Job"]
    assert (job["Command"], job["Timeout"], job["MaxRetries"], job["DefaultArguments"]) == (command, 7, 0, {})
    assert "Description" not in job
    assert job["Role"] == "role"
    assert job["CreatedOn"] == before["CreatedOn"]
    assert job["LastModifiedOn"] > before["LastModifiedOn"]
    assert glue.list_jobs(Tags={"team": "x"})["JobNames"] == ["job"]


def test_an_update_of_nothing_keeps_what_a_job_cannot_be_without(glue: Any) -> None:
    make_job(glue, Description="old")
    glue.update_job(JobName="job", JobUpdate={})
    job = glue.get_job(JobName="job")["Job"]
    assert job["Command"]["ScriptLocation"] == SCRIPT["ScriptLocation"]
    assert "Description" not in job


def test_a_refused_update_changes_nothing(glue: Any) -> None:
    make_job(glue, MaxRetries=1)
    before = glue.get_job(JobName="job")["Job"]
    with refused("InvalidInputException", "MaxRetries"):
        glue.update_job(JobName="job", JobUpdate={"MaxRetries": 99})
    assert glue.get_job(JobName="job")["Job"] == before


def test_a_deleted_job_is_gone_and_may_be_deleted_again(glue: Any) -> None:
    make_job(glue)
    for _ in range(2):
        assert glue.delete_job(JobName="job")["JobName"] == "job"
    with refused("EntityNotFoundException", "Job job not found"):
        glue.get_job(JobName="job")


def test_what_is_not_there_is_not_found(glue: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: glue.get_job(JobName="x"),
        lambda: glue.update_job(JobName="x", JobUpdate={}),
        lambda: glue.start_job_run(JobName="x"),
        lambda: glue.get_job_runs(JobName="x"),
        lambda: glue.get_job_run(JobName="x", RunId="jr_1"),
        lambda: glue.get_triggers(DependentJobName="x"),
        lambda: glue.list_triggers(DependentJobName="x"),
    ]
    for call in calls:
        with refused("EntityNotFoundException"):
            call()


def test_a_batch_lists_what_was_not_found(glue: Any) -> None:
    make_job(glue, "b")
    make_job(glue, "a")
    answer = glue.batch_get_jobs(JobNames=["b", "nope", "a", "b"])
    assert [job["Name"] for job in answer["Jobs"]] == ["b", "a"]
    assert answer["JobsNotFound"] == ["nope"]


def test_pages_cover_the_list_once_and_the_last_has_no_token(glue: Any) -> None:
    names = [f"job{number}" for number in range(7)]
    for name in names:
        make_job(glue, name)
    pages = list(glue.get_paginator("get_jobs").paginate(PaginationConfig={"PageSize": 3}))
    assert [len(page["Jobs"]) for page in pages] == [3, 3, 1]
    assert [job["Name"] for page in pages for job in page["Jobs"]] == names
    assert ["NextToken" in page for page in pages] == [True, True, False]
    assert "NextToken" not in glue.list_jobs(MaxResults=7)
    first = glue.list_jobs(MaxResults=2)
    assert glue.list_jobs(NextToken=first["NextToken"])["JobNames"] == names[2:]


def test_a_token_of_another_list_is_refused(glue: Any) -> None:
    for name in ("a", "b"):
        make_job(glue, name)
    token = glue.list_jobs(MaxResults=1)["NextToken"]
    calls: list[Callable[[], object]] = [
        lambda: glue.list_triggers(NextToken=token),
        lambda: glue.get_job_runs(JobName="a", NextToken=token),
        lambda: glue.get_jobs(NextToken="nonsense"),
        lambda: glue.get_jobs(NextToken=token[:-4]),
    ]
    for call in calls:
        with refused("InvalidInputException", "NextToken"):
            call()


def test_a_token_shows_another_organisation_only_its_own(glue: Any, served: Served) -> None:
    for name in ("a", "b"):
        make_job(glue, name)
    token = glue.list_jobs(MaxResults=1)["NextToken"]
    assert served.account().client().list_jobs(NextToken=token)["JobNames"] == []


@pytest.mark.parametrize("size", [0, 1001])
def test_a_page_has_a_size_within_the_model(account: Account, size: int) -> None:
    answer = signed_call(account.served, account.key(Role.VIEWER), "GetJobs", {"MaxResults": size})
    assert (answer.status, answer.body["__type"]) == (400, "InvalidInputException")


def test_tags_filter_a_list(glue: Any) -> None:
    make_job(glue, "a", Tags={"team": "x", "tier": "1"})
    make_job(glue, "b", Tags={"team": "y"})
    assert glue.list_jobs(Tags={"team": "x"})["JobNames"] == ["a"]
    assert glue.list_jobs(Tags={"team": "x", "tier": "2"})["JobNames"] == []
    assert "Tags" not in glue.get_job(JobName="a")["Job"]
