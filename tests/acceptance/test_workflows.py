"""Workflows with real processes: conditions and a failing branch, stopped, resumed, and the example of the docs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import REPO, Server, alive, running, until

# Notes its pid, waits while there is a file `hold-<job>`, fails while there is one `fail-<job>`.
PROGRAM = """
import os, sys, time
here, job = {folder!r}, os.environ["WATERCLOCK_JOB_NAME"]
with open(os.path.join(here, "pid-" + job), "w") as file:
    file.write(str(os.getpid()))
while os.path.exists(os.path.join(here, "hold-" + job)):
    time.sleep(0.01)
sys.exit(3 if os.path.exists(os.path.join(here, "fail-" + job)) else 0)
"""
TELLER = """
import argparse, boto3
parser = argparse.ArgumentParser()
for name in ("WORKFLOW_NAME", "WORKFLOW_RUN_ID", "endpoint", "key-id", "key-secret"):
    parser.add_argument("--" + name)
given, _ = parser.parse_known_args()
glue = boto3.client("glue", endpoint_url=given.endpoint, region_name="us-east-1",
                    aws_access_key_id=given.key_id, aws_secret_access_key=given.key_secret)
run = {"Name": given.WORKFLOW_NAME, "RunId": given.WORKFLOW_RUN_ID}
found = glue.get_workflow_run_properties(**run)["RunProperties"]
glue.put_workflow_run_properties(**run, RunProperties={"count": str(int(found["count"]) + 1)})
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server"), stop_grace_seconds=0.5) as server:
        yield server


class Steps:
    """The five jobs of a workflow: a, then b and c side by side, then d when both went well, e when either failed."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.glue = server.glue()
        self.folder = folder
        self.name = folder.name[:200]
        script = folder / "step.py"
        script.write_text(PROGRAM.format(folder=str(folder)))
        self.glue.create_workflow(Name=self.name)
        for job in "abcde":
            create_job(self.glue, self.job(job), script)
        self.glue.create_trigger(Name=self.job("start"), **self._trigger("a"), Type="ON_DEMAND")
        self._then("to-b", "b", "AND", a="SUCCEEDED")
        self._then("to-c", "c", "AND", a="SUCCEEDED")
        self._then("to-d", "d", "AND", b="SUCCEEDED", c="SUCCEEDED")
        self._then("to-e", "e", "ANY", b="FAILED", c="FAILED")

    def job(self, letter: str) -> str:
        return f"{self.name}-{letter}"

    def start(self) -> str:
        return str(self.glue.start_workflow_run(Name=self.name)["RunId"])

    def run(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.glue.get_workflow_run(Name=self.name, RunId=run_id, IncludeGraph=True)["Run"]
        return found

    def ended(self, run_id: str, status: str = "COMPLETED") -> dict[str, str]:
        """What became of each job that ran."""
        until(lambda: self.run(run_id)["Status"] not in ("RUNNING", "STOPPING"), f"{run_id} never ended")
        run = self.run(run_id)
        assert run["Status"] == status
        jobs = [node for node in run["Graph"]["Nodes"] if node["Type"] == "JOB"]
        runs = {node["Name"][-1]: node["JobDetails"]["JobRuns"] for node in jobs}
        return {job: mine[-1]["JobRunState"] for job, mine in runs.items() if mine}

    def node(self, run_id: str, letter: str) -> str:
        found = [node for node in self.run(run_id)["Graph"]["Nodes"] if node["Name"] == self.job(letter)]
        return str(found[0]["UniqueId"])

    def pid(self, letter: str) -> int:
        file = self.folder / f"pid-{self.job(letter)}"
        return int(until(lambda: file.exists() and file.read_text(), f"{letter} never began"))

    def mark(self, what: str, letter: str) -> Path:
        path = self.folder / f"{what}-{self.job(letter)}"
        path.touch()
        return path

    def _then(self, name: str, job: str, logical: str, **on: str) -> None:
        conditions = [
            {"LogicalOperator": "EQUALS", "JobName": self.job(watched), "State": state} for watched, state in on.items()
        ]
        predicate = {"Logical": logical, "Conditions": conditions}
        more = {"Type": "CONDITIONAL", "Predicate": predicate, "StartOnCreation": True}
        self.glue.create_trigger(Name=self.job(name), **self._trigger(job), **more)

    def _trigger(self, job: str) -> dict[str, Any]:
        return {"WorkflowName": self.name, "Actions": [{"JobName": self.job(job)}]}


def create_job(glue: Any, name: str, script: Path, **more: Any) -> None:
    command = {"Name": "pythonshell", "ScriptLocation": f"file://{script}"}
    glue.create_job(Name=name, Role="r", Command=command, **more)


def test_a_failing_branch_is_taken_and_the_run_is_resumed_from_where_it_failed(server: Server, tmp_path: Path) -> None:
    steps = Steps(server, tmp_path)
    failing = steps.mark("fail", "b")
    old = steps.start()
    assert steps.ended(old) == {"a": "SUCCEEDED", "b": "FAILED", "c": "SUCCEEDED", "e": "SUCCEEDED"}
    assert steps.run(old)["Statistics"]["FailedActions"] == 1
    failing.unlink()
    first_pid = steps.pid("a")
    answer = steps.glue.resume_workflow_run(Name=steps.name, RunId=old, NodeIds=[steps.node(old, "b")])
    new = answer["RunId"]
    assert steps.ended(new) == dict.fromkeys("abcd", "SUCCEEDED")
    assert steps.run(new)["PreviousRunId"] == old
    assert steps.pid("a") == first_pid, "a ran again"


def test_stopping_in_the_middle_kills_what_runs_and_starts_nothing_more(server: Server, tmp_path: Path) -> None:
    steps = Steps(server, tmp_path)
    steps.mark("hold", "b")
    run_id = steps.start()
    pid = steps.pid("b")
    until(lambda: steps.run(run_id)["Statistics"]["SucceededActions"] == 2, "c never succeeded")
    steps.glue.stop_workflow_run(Name=steps.name, RunId=run_id)
    assert steps.ended(run_id, "STOPPED") == {"a": "SUCCEEDED", "b": "STOPPED", "c": "SUCCEEDED"}
    assert not alive(pid)
    assert not (tmp_path / f"pid-{steps.job('d')}").exists()


def test_the_command_line_follows_a_workflow_to_its_end(server: Server, tmp_path: Path) -> None:
    steps = Steps(server, tmp_path)
    said = server.cli("workflow", "start", steps.name, "--follow")
    assert said.returncode == 0, said.stderr
    assert said.stdout.count("SUCCEEDED  jr_") == 4
    assert "is COMPLETED" in said.stderr


def test_jobs_of_a_workflow_pass_word_to_each_other_through_its_properties(server: Server, tmp_path: Path) -> None:
    glue, script = server.glue(), tmp_path / "teller.py"
    script.write_text(TELLER)
    operator = _operators_key(server)
    arguments = {"--endpoint": server.address, "--key-id": operator[0], "--key-secret": operator[1]}
    glue.create_workflow(Name="tellers", DefaultRunProperties={"count": "0"})
    for name in ("teller-one", "teller-two"):
        create_job(glue, name, script, DefaultArguments=arguments)
    begin = {"Type": "ON_DEMAND", "Actions": [{"JobName": "teller-one"}]}
    condition = {"LogicalOperator": "EQUALS", "JobName": "teller-one", "State": "SUCCEEDED"}
    then = {"Type": "CONDITIONAL", "Predicate": {"Conditions": [condition]}, "StartOnCreation": True}
    glue.create_trigger(Name="tellers-begin", WorkflowName="tellers", **begin)
    actions = [{"JobName": "teller-two"}]
    glue.create_trigger(Name="tellers-then", WorkflowName="tellers", Actions=actions, **then)
    run_id = glue.start_workflow_run(Name="tellers", RunProperties={"count": "40", "other": "kept"})["RunId"]
    run = {"Name": "tellers", "RunId": run_id}
    until(lambda: glue.get_workflow_run(**run)["Run"]["Status"] == "COMPLETED", "never completed")
    for name in ("teller-one", "teller-two"):
        for job_run in glue.get_job_runs(JobName=name)["JobRuns"]:
            assert job_run["JobRunState"] == "SUCCEEDED", server.cli("run", "logs", job_run["Id"]).stdout
    assert glue.get_workflow_run_properties(**run)["RunProperties"] == {"count": "42", "other": "kept"}


def test_the_example_of_the_docs_runs_as_it_stands(tmp_path: Path) -> None:
    text = (REPO / "docs" / "workflows.md").read_text()
    example, extract = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for name in ("clean", "enrich", "report", "alarm"):
        (tmp_path / f"{name}.py").write_text("")
    with running(tmp_path, auth="none") as server:
        (tmp_path / "extract.py").write_text(extract.replace("http://127.0.0.1:8470", server.address))
        example = example.replace("/srv/jobs/", f"{tmp_path}/").replace("http://127.0.0.1:8470", server.address)
        keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
        ran = subprocess.run(
            [sys.executable, "-c", example],
            env={**os.environ, **keys},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.stdout == "COMPLETED 4 42\n", ran.stderr


def _operators_key(server: Server) -> tuple[str, str]:
    added = server.cli("user", "add", "ope", "--role", "operator")
    assert added.returncode == 0, added.stderr
    lines = server.cli("key", "create", "ope").stdout.splitlines()
    found = dict(line.split(" = ") for line in lines if " = " in line)
    return found["aws_access_key_id"], found["aws_secret_access_key"]
