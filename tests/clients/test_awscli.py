"""The aws CLI: what an operator types, and what a shell script does with the answer."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import DEADLINE_SECONDS, Server, until
from tests.clients.calling import assert_dead, environment, pid_in, script, sleeper

pytestmark = pytest.mark.heavy  # it is installed first

REFUSED = 255  # of version 1, which PyPI has; version 2 says 254
LIVE = ("WAITING", "STARTING", "RUNNING", "STOPPING")


class Aws:
    """`aws <words> --<option> <value>`; what it answers in JSON."""

    def __init__(self, program: Path, environment: dict[str, str]) -> None:
        self._program, self._environment = program, environment

    def run(self, *words: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        flags = [part for name, value in options.items() for part in _flag(name, value)]
        return subprocess.run(
            [str(self._program), *words, *flags, "--output", "json"],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )

    def __call__(self, *words: str, **options: Any) -> Any:
        ran = self.run(*words, **options)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout) if ran.stdout.strip() else {}

    def glue(self, action: str, **options: Any) -> Any:
        return self("glue", action, **options)


def _flag(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    match value:
        case True:
            return [flag]
        case str() | int():
            return [flag, str(value)]
    return [flag, json.dumps(value)]


@pytest.fixture(scope="module")
def aws(aws_program: Path, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Aws:
    return Aws(aws_program, environment(server, tmp_path_factory.mktemp("home")))


def make_job(aws: Aws, name: str, location: str, **more: Any) -> str:
    command = {"Name": "pythonshell", "ScriptLocation": location}
    made: str = aws.glue("create-job", name=name, role="r", command=command, **more)["Name"]
    return made


def run_of(aws: Aws, job: str, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = aws.glue("get-job-run", job_name=job, run_id=run_id)["JobRun"]
    return found


def ended(aws: Aws, job: str, run_id: str) -> dict[str, Any]:
    def is_over() -> dict[str, Any] | None:
        run = run_of(aws, job, run_id)
        return run if run["JobRunState"] not in LIVE else None

    found: dict[str, Any] = until(is_over, f"{run_id} never ended")
    return found


def test_a_job_is_created_started_and_polled_to_its_end_and_its_log_is_read(aws: Aws, tmp_path: Path) -> None:
    location = script(tmp_path, "hello", "import sys\nprint('hello', sys.argv[-1])\nprint('oops', file=sys.stderr)\n")
    assert make_job(aws, "hello", location) == "hello"
    run_id = aws.glue("start-job-run", job_name="hello", arguments={"--day": "monday"})["JobRunId"]
    run = ended(aws, "hello", run_id)
    assert (run["JobRunState"], run["Arguments"]) == ("SUCCEEDED", {"--day": "monday"})
    stream = {"log_stream_names": run_id}
    events = aws("logs", "filter-log-events", log_group_name=f"{run['LogGroupName']}/output", **stream)["events"]
    assert [event["message"].rstrip("\n") for event in events] == ["hello monday", "oops"]


def test_runs_come_newest_first_in_pages(aws: Aws, tmp_path: Path) -> None:
    make_job(aws, "paged", script(tmp_path, "paged", ""), execution_property={"MaxConcurrentRuns": 3})
    ids = [aws.glue("start-job-run", job_name="paged")["JobRunId"] for _ in range(3)]
    pages: dict[str, Any] = {"job_name": "paged", "page_size": 1, "max_items": 2}
    first = aws.glue("get-job-runs", **pages)
    rest = aws.glue("get-job-runs", **pages, starting_token=first["NextToken"])
    assert [run["Id"] for run in first["JobRuns"] + rest["JobRuns"]] == ids[::-1]
    assert "NextToken" not in rest
    for run_id in ids:
        assert ended(aws, "paged", run_id)["JobRunState"] == "SUCCEEDED"


def test_a_trigger_is_started_stopped_and_deleted(aws: Aws, tmp_path: Path) -> None:
    make_job(aws, "nightly", script(tmp_path, "nightly", ""))
    schedule = {"type": "SCHEDULED", "schedule": "cron(15 12 * * ? *)", "actions": [{"JobName": "nightly"}]}
    assert aws.glue("create-trigger", name="noon", **schedule)["Name"] == "noon"
    states = [aws.glue("get-trigger", name="noon")["Trigger"]["State"]]
    for action in ("start-trigger", "stop-trigger"):
        aws.glue(action, name="noon")
        states.append(aws.glue("get-trigger", name="noon")["Trigger"]["State"])
    assert states == ["CREATED", "ACTIVATED", "DEACTIVATED"]
    assert aws.glue("delete-trigger", name="noon")["Name"] == "noon"
    assert aws.glue("list-triggers")["TriggerNames"] == []


def test_tags_are_added_read_and_filtered_by(aws: Aws, tmp_path: Path) -> None:
    make_job(aws, "tagged", script(tmp_path, "tagged", ""), tags={"team": "data"})
    arn = "arn:aws:glue:us-east-1:123456789012:job/tagged"
    aws.glue("tag-resource", resource_arn=arn, tags_to_add={"stage": "test"})
    assert aws.glue("get-tags", resource_arn=arn)["Tags"] == {"team": "data", "stage": "test"}
    aws.glue("untag-resource", resource_arn=arn, tags_to_remove=["team"])
    assert aws.glue("list-jobs", tags={"stage": "test"})["JobNames"] == ["tagged"]
    assert aws.glue("list-jobs", tags={"team": "data"})["JobNames"] == []


def test_a_workflow_runs_its_jobs_one_after_the_other(aws: Aws, tmp_path: Path) -> None:
    written = tmp_path / "written"
    for name in ("extract", "load"):
        make_job(aws, name, script(tmp_path, name, f"print({name!r}, file=open({str(written)!r}, 'a'))\n"))
    aws.glue("create-workflow", name="etl", default_run_properties={"region": "north"})
    within = {"workflow_name": "etl"}
    aws.glue("create-trigger", name="go", type="ON_DEMAND", actions=[{"JobName": "extract"}], **within)
    after = {"Conditions": [{"LogicalOperator": "EQUALS", "JobName": "extract", "State": "SUCCEEDED"}]}
    then: dict[str, Any] = {"type": "CONDITIONAL", "predicate": after, "start_on_creation": True, **within}
    aws.glue("create-trigger", name="then", actions=[{"JobName": "load"}], **then)
    run_id = aws.glue("start-workflow-run", name="etl")["RunId"]
    run: dict[str, Any] = {"name": "etl", "run_id": run_id}
    until(lambda: aws.glue("get-workflow-run", **run)["Run"]["Status"] == "COMPLETED", "the workflow never ended")
    assert written.read_text().split() == ["extract", "load"]
    assert aws.glue("get-workflow-run-properties", **run)["RunProperties"] == {"region": "north"}


def test_stopping_a_run_kills_its_process(aws: Aws, tmp_path: Path) -> None:
    location, pid_file = sleeper(tmp_path, "sleeper")
    make_job(aws, "sleeper", location)
    run_id = aws.glue("start-job-run", job_name="sleeper")["JobRunId"]
    pid = pid_in(pid_file)
    answer = aws.glue("batch-stop-job-run", job_name="sleeper", job_run_ids=[run_id, "jr_0"])
    assert [each["JobRunId"] for each in answer["SuccessfulSubmissions"]] == [run_id]
    assert [each["JobRunId"] for each in answer["Errors"]] == ["jr_0"]
    assert ended(aws, "sleeper", run_id)["JobRunState"] == "STOPPED"
    assert_dead(pid)


@pytest.mark.parametrize(
    ("action", "options", "said"),
    [
        ("get-job", {"job_name": "nobody"}, "(EntityNotFoundException)"),
        ("start-trigger", {"name": "line\nbreak"}, "(InvalidInputException)"),
        ("list-sessions", {}, "(UnknownOperationException)"),
    ],
)
def test_an_error_is_named_and_the_exit_code_tells(aws: Aws, action: str, options: dict[str, Any], said: str) -> None:
    ran = aws.run("glue", action, **options)
    assert (ran.returncode, ran.stdout) == (REFUSED, "")
    assert said in ran.stderr


def test_the_caller_learns_who_they_are(aws: Aws) -> None:
    found = aws("sts", "get-caller-identity")
    assert found["Account"] == "123456789012"
    assert found["Arn"] == "arn:aws:iam::123456789012:user/admin"
