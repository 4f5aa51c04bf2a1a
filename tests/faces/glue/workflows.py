"""Short words for what the tests do to workflows: jobs and triggers around one, its runs, and their nodes by job."""

from typing import Any

from tests.faces.glue.calls import make_job, make_trigger
from tests.faces.http.served import Served
from waterclock.domain.run import RunState

NAME = "flow"


class Workflow:
    """One workflow as a client has it, and a worker's hand for its runs."""

    def __init__(self, client: Any, served: Served, **more: Any) -> None:
        self.client = client
        self._served = served
        client.create_workflow(Name=NAME, **more)

    def jobs(self, *names: str, **more: Any) -> None:
        for name in names:
            make_job(self.client, name, **more)

    def begins(self, *jobs: str, **more: Any) -> None:
        make_trigger(self.client, "start", jobs=jobs, WorkflowName=NAME, **more)

    def then(self, trigger: str, *jobs: str, logical: str = "AND", active: bool = True, **on: str) -> None:
        """`then("join", "d", b="SUCCEEDED", c="SUCCEEDED")`."""
        predicate = {"Logical": logical, "Conditions": conditions(**on)}
        self.client.create_trigger(
            Name=trigger,
            Type="CONDITIONAL",
            WorkflowName=NAME,
            StartOnCreation=active,
            Predicate=predicate,
            Actions=[{"JobName": job} for job in jobs],
        )

    def start(self, **properties: str) -> str:
        return str(self.client.start_workflow_run(Name=NAME, RunProperties=properties)["RunId"])

    def run(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get_workflow_run(Name=NAME, RunId=run_id, IncludeGraph=True)["Run"]
        return found

    def status(self, run_id: str) -> str:
        return str(self.run(run_id)["Status"])

    def node(self, run_id: str, job: str) -> dict[str, Any]:
        (found,) = [node for node in nodes(self.run(run_id)["Graph"], "JOB") if node["Name"] == job]
        return found

    def states(self, run_id: str) -> dict[str, str]:
        """Of each job that has begun, its last attempt's."""
        shown = nodes(self.run(run_id)["Graph"], "JOB")
        runs = {node["Name"]: node["JobDetails"]["JobRuns"] for node in shown}
        return {name: mine[-1]["JobRunState"] for name, mine in runs.items() if mine}

    def job_run(self, run_id: str, job: str) -> str:
        return str(self.node(run_id, job)["JobDetails"]["JobRuns"][-1]["Id"])

    def begin(self, run_id: str, job: str) -> None:
        self._served.begin(self.job_run(run_id, job))

    def end(self, run_id: str, job: str, state: RunState = RunState.SUCCEEDED, message: str | None = None) -> None:
        wire_id = self.job_run(run_id, job)
        self._served.begin(wire_id)
        self._served.end(wire_id, state, message)


def diamond(client: Any, served: Served, **more: Any) -> Workflow:
    """a, then b and c, then d when both went well; e when one of them failed."""
    workflow = Workflow(client, served, **more)
    workflow.jobs(*"abcde")
    workflow.begins("a")
    workflow.then("after-a", "b", a="SUCCEEDED")
    workflow.then("after-a-too", "c", a="SUCCEEDED")
    workflow.then("join", "d", b="SUCCEEDED", c="SUCCEEDED")
    workflow.then("alarm", "e", logical="ANY", b="FAILED", c="FAILED")
    return workflow


def conditions(**on: str) -> list[dict[str, str]]:
    return [{"LogicalOperator": "EQUALS", "JobName": job, "State": state} for job, state in on.items()]


def nodes(graph: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [node for node in graph["Nodes"] if node["Type"] == kind]


def edges(graph: dict[str, Any]) -> set[tuple[str, str]]:
    """By name."""
    names = {node["UniqueId"]: node["Name"] for node in graph["Nodes"]}
    return {(names[edge["SourceId"]], names[edge["DestinationId"]]) for edge in graph["Edges"]}


def counts(run: dict[str, Any]) -> dict[str, int]:
    """The statistics that are not zero, in short: {"Total": 5, "Running": 1}."""
    return {name.removesuffix("Actions"): count for name, count in run["Statistics"].items() if count}
