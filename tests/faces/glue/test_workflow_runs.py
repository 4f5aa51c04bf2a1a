"""Runs of workflows over the wire, with boto3: edges, statistics, properties, stopping, resuming, the cap."""

from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused, state_of, states_of
from tests.faces.glue.workflows import NAME, Workflow, conditions, counts, diamond, edges, nodes
from tests.faces.http.served import Served
from tests.faces.http.ticking import fire_until
from waterclock.domain.run import RunState

FAILED, TIMEOUT = RunState.FAILED, RunState.TIMEOUT


@pytest.fixture
def workflow(glue: Any, served: Served) -> Workflow:
    return diamond(glue, served)


def test_a_workflow_runs_along_its_edges_and_is_counted_on_the_way(workflow: Workflow) -> None:
    run_id = workflow.start()
    assert run_id.startswith("wr_")
    assert len(run_id) == 67
    assert workflow.states(run_id) == {"a": "STARTING"}
    assert counts(workflow.run(run_id)) == {"Total": 5, "Running": 1}
    workflow.end(run_id, "a")
    assert workflow.states(run_id) == {"a": "SUCCEEDED", "b": "STARTING", "c": "STARTING"}
    workflow.end(run_id, "b")
    assert counts(workflow.run(run_id)) == {"Total": 5, "Running": 1, "Succeeded": 2}
    workflow.end(run_id, "c")
    run = workflow.run(run_id)
    assert (run["Status"], "CompletedOn" in run) == ("RUNNING", False)
    workflow.end(run_id, "d")
    run = workflow.run(run_id)
    assert (run["Name"], run["WorkflowRunId"], run["Status"]) == (NAME, run_id, "COMPLETED")
    assert run["CompletedOn"] >= run["StartedOn"]
    assert counts(run) == {"Total": 5, "Succeeded": 4}
    assert "ErrorMessage" not in run


def test_a_workflow_is_completed_even_when_nodes_failed(workflow: Workflow) -> None:
    run_id = workflow.start()
    workflow.end(run_id, "a")
    workflow.end(run_id, "b", FAILED, "no table")
    assert workflow.states(run_id)["e"] == "STARTING"
    workflow.end(run_id, "e")
    workflow.end(run_id, "c", TIMEOUT)
    run = workflow.run(run_id)
    assert run["Status"] == "COMPLETED"
    assert counts(run) == {"Total": 5, "Succeeded": 2, "Failed": 1, "Timeout": 1}
    assert "d" not in workflow.states(run_id)
    (failed,) = workflow.node(run_id, "b")["JobDetails"]["JobRuns"]
    assert (failed["ErrorMessage"], failed["TriggerName"]) == ("no table", "after-a")
    assert failed["Arguments"] == {"--WORKFLOW_NAME": NAME, "--WORKFLOW_RUN_ID": run_id}


def test_every_attempt_of_a_node_is_shown(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    workflow.jobs("a", MaxRetries=1)
    workflow.begins("a")
    run_id = workflow.start()
    workflow.end(run_id, "a", FAILED)
    first, second = workflow.node(run_id, "a")["JobDetails"]["JobRuns"]
    assert (first["JobRunState"], second["JobRunState"]) == ("FAILED", "STARTING")
    assert (second["Attempt"], second["PreviousRunId"]) == (1, first["Id"])
    assert counts(workflow.run(run_id)) == {"Total": 1, "Running": 1}


def test_a_node_over_its_jobs_cap_is_in_the_total_only_where_it_is_skipped(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    workflow.jobs("a")
    workflow.begins("a")
    glue.start_job_run(JobName="a")
    run = workflow.run(workflow.start())
    assert (run["Status"], counts(run)) == ("COMPLETED", {"Total": 1})


def test_a_waiting_node_is_counted_as_one(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    workflow.jobs("a", JobRunQueuingEnabled=True)
    workflow.begins("a")
    glue.start_job_run(JobName="a")
    assert counts(workflow.run(workflow.start())) == {"Total": 1, "Waiting": 1}


def test_a_node_whose_job_is_gone_is_an_error(served_as_aws: Served) -> None:
    aws = served_as_aws.account().client()
    workflow = Workflow(aws, served_as_aws)
    workflow.jobs("a")
    workflow.begins("a")
    aws.delete_job(JobName="a")
    run = workflow.run(workflow.start())
    assert (run["Status"], counts(run)) == ("COMPLETED", {"Total": 1, "Errored": 1})


@pytest.mark.parametrize("rules", ["guarded", "aws"])
def test_the_actions_of_one_trigger_follow_the_rule_set(rules: str, served: Served, served_as_aws: Served) -> None:
    server = served if rules == "guarded" else served_as_aws
    workflow = Workflow(server.account().client(), server)
    workflow.jobs("a", "b")
    workflow.begins("a", "b")
    run_id = workflow.start()
    assert workflow.states(run_id) == {"a": "STARTING", "b": "WAITING" if rules == "guarded" else "STARTING"}
    workflow.end(run_id, "a", FAILED)
    workflow.end(run_id, "b")
    assert workflow.status(run_id) == "COMPLETED"


def test_the_graph_of_a_run_is_fixed_at_its_start(workflow: Workflow, glue: Any) -> None:
    run_id = workflow.start()
    before = workflow.run(run_id)["Graph"]
    glue.stop_trigger(Name="join")
    glue.delete_trigger(Name="join")
    workflow.then("later", "e", a="SUCCEEDED")
    run = workflow.run(run_id)
    assert edges(run["Graph"]) == edges(before)
    (join,) = [node for node in nodes(run["Graph"], "TRIGGER") if node["Name"] == "join"]
    assert join["TriggerDetails"]["Trigger"] == {"Name": "join", "WorkflowName": NAME}
    for job in "abcd":
        workflow.end(run_id, job)
    assert workflow.states(run_id) == dict.fromkeys("abcd", "SUCCEEDED")
    assert workflow.status(run_id) == "COMPLETED"
    assert "d" not in {node["Name"] for node in workflow.run(workflow.start())["Graph"]["Nodes"]}


def test_a_trigger_made_again_under_its_old_name_is_another_one(workflow: Workflow, glue: Any) -> None:
    run_id = workflow.start()
    glue.stop_trigger(Name="join")
    glue.delete_trigger(Name="join")
    workflow.then("join", "e", a="SUCCEEDED")
    (join,) = [node for node in nodes(workflow.run(run_id)["Graph"], "TRIGGER") if node["Name"] == "join"]
    assert "Actions" not in join["TriggerDetails"]["Trigger"]


def test_a_trigger_that_is_not_activated_is_shown_and_never_fires(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    workflow.jobs("a", "b")
    workflow.begins("a")
    workflow.then("off", "b", active=False, a="SUCCEEDED")
    run_id = workflow.start()
    workflow.end(run_id, "a")
    run = workflow.run(run_id)
    assert (run["Status"], counts(run)) == ("COMPLETED", {"Total": 2, "Succeeded": 1})


def test_a_workflow_without_triggers_is_completed_at_once_and_may_be_stopped(glue: Any) -> None:
    glue.create_workflow(Name=NAME)
    run_id = glue.start_workflow_run(Name=NAME)["RunId"]
    run = glue.get_workflow_run(Name=NAME, RunId=run_id, IncludeGraph=True)["Run"]
    assert run["Status"] == "COMPLETED"
    assert run["Graph"] == {"Nodes": [], "Edges": []}
    assert counts(run) == {}
    glue.stop_workflow_run(Name=NAME, RunId=run_id)


def test_run_properties_are_laid_over_each_other(glue: Any) -> None:
    glue.create_workflow(Name=NAME, DefaultRunProperties={"a": "default", "b": "default", "c": "default"})
    run_id = glue.start_workflow_run(Name=NAME, RunProperties={"b": "run", "d": "run"})["RunId"]
    glue.put_workflow_run_properties(Name=NAME, RunId=run_id, RunProperties={"c": "put", "e": "물"})
    expected = {"a": "default", "b": "run", "c": "put", "d": "run", "e": "물"}
    assert glue.get_workflow_run_properties(Name=NAME, RunId=run_id)["RunProperties"] == expected
    assert glue.get_workflow_run(Name=NAME, RunId=run_id)["Run"]["WorkflowRunProperties"] == expected
    assert glue.get_workflow(Name=NAME)["Workflow"]["DefaultRunProperties"] == dict.fromkeys("abc", "default")
    with refused("InvalidInputException", "runProperties"):
        glue.put_workflow_run_properties(Name=NAME, RunId=run_id, RunProperties={"x" * 256: ""})
    with refused("InvalidInputException", "runProperties"):
        glue.start_workflow_run(Name=NAME, RunProperties={"two\nlines": ""})


def test_runs_come_newest_first_in_pages(workflow: Workflow, glue: Any) -> None:
    started = [workflow.start() for _ in range(3)]
    glue.create_workflow(Name="other")
    glue.start_workflow_run(Name="other")
    first = glue.get_workflow_runs(Name=NAME, MaxResults=2, IncludeGraph=True)
    last = glue.get_workflow_runs(Name=NAME, MaxResults=2, NextToken=first["NextToken"])
    assert "NextToken" not in last
    assert [run["WorkflowRunId"] for run in first["Runs"] + last["Runs"]] == started[::-1]
    assert first["Runs"][0] == workflow.run(started[-1])
    assert "Graph" not in last["Runs"][0]
    assert {run["Statistics"]["TotalActions"] for run in first["Runs"] + last["Runs"]} == {5}
    with refused("InvalidInputException", "maxResults"):
        glue.get_workflow_runs(Name=NAME, MaxResults=1001)
    for token in (first["NextToken"], "nonsense"):
        with refused("InvalidInputException", "NextToken"):
            glue.list_workflows(NextToken=token)


def test_a_page_of_graphs_is_short_and_its_token_goes_on(glue: Any) -> None:
    glue.create_workflow(Name=NAME)
    for _ in range(101):
        glue.start_workflow_run(Name=NAME)
    assert len(glue.get_workflow_runs(Name=NAME, MaxResults=1000)["Runs"]) == 101
    first = glue.get_workflow_runs(Name=NAME, MaxResults=1000, IncludeGraph=True)
    last = glue.get_workflow_runs(Name=NAME, MaxResults=1000, IncludeGraph=True, NextToken=first["NextToken"])
    assert (len(first["Runs"]), len(last["Runs"]), "NextToken" in last) == (100, 1, False)


def test_the_last_run_is_shown_with_its_workflow(workflow: Workflow, glue: Any) -> None:
    workflow.start()
    last = workflow.start()
    assert glue.get_workflow(Name=NAME, IncludeGraph=True)["Workflow"]["LastRun"] == workflow.run(last)
    assert "Graph" not in glue.get_workflow(Name=NAME)["Workflow"]["LastRun"]
    (shown,) = glue.batch_get_workflows(Names=[NAME])["Workflows"]
    assert shown["LastRun"]["WorkflowRunId"] == last


def test_a_workflow_has_as_many_runs_at_once_as_it_may(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served, MaxConcurrentRuns=1)
    workflow.jobs("a")
    workflow.begins("a")
    run_id = workflow.start()
    with refused("ConcurrentRunsExceededException", "'flow'"):
        workflow.start()
    workflow.end(run_id, "a", FAILED)
    second = workflow.start()
    with refused("ConcurrentRunsExceededException"):
        glue.resume_workflow_run(Name=NAME, RunId=run_id, NodeIds=[workflow.node(run_id, "a")["UniqueId"]])
    glue.update_workflow(Name=NAME)
    workflow.start()
    assert workflow.status(second) == "RUNNING"


def test_stopping_stops_what_runs_and_starts_nothing_more(workflow: Workflow, glue: Any, served: Served) -> None:
    run_id = workflow.start()
    workflow.end(run_id, "a")
    workflow.begin(run_id, "b")
    glue.stop_workflow_run(Name=NAME, RunId=run_id)
    assert workflow.states(run_id) == {"a": "SUCCEEDED", "b": "STOPPING", "c": "STOPPED"}
    assert workflow.status(run_id) == "STOPPING"
    assert counts(workflow.run(run_id)) == {"Total": 5, "Succeeded": 1, "Running": 1, "Stopped": 1}
    glue.stop_workflow_run(Name=NAME, RunId=run_id)
    served.end(workflow.job_run(run_id, "b"), RunState.STOPPED)
    run = workflow.run(run_id)
    assert (run["Status"], "CompletedOn" in run) == ("STOPPED", True)
    assert counts(run) == {"Total": 5, "Succeeded": 1, "Stopped": 2}
    with refused("IllegalWorkflowStateException", "STOPPED"):
        glue.stop_workflow_run(Name=NAME, RunId=run_id)


def test_a_completed_run_cannot_be_stopped(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    workflow.jobs("a")
    workflow.begins("a")
    run_id = workflow.start()
    workflow.end(run_id, "a")
    with refused("IllegalWorkflowStateException", "COMPLETED"):
        glue.stop_workflow_run(Name=NAME, RunId=run_id)


def test_a_run_is_resumed_as_a_new_one_from_the_failed_node(workflow: Workflow, glue: Any) -> None:
    old = workflow.start(day="monday")
    workflow.end(old, "a")
    workflow.end(old, "b", FAILED)
    workflow.end(old, "c")
    workflow.end(old, "e")
    failed = workflow.node(old, "b")["UniqueId"]
    answer = glue.resume_workflow_run(Name=NAME, RunId=old, NodeIds=[failed, failed])
    new = answer["RunId"]
    assert (answer["NodeIds"], new != old) == ([failed], True)
    run = workflow.run(new)
    assert (run["PreviousRunId"], run["WorkflowRunProperties"]) == (old, {"day": "monday"})
    assert workflow.states(new) == {"a": "SUCCEEDED", "b": "STARTING", "c": "SUCCEEDED"}
    assert workflow.job_run(new, "a") == workflow.job_run(old, "a")
    workflow.end(new, "b")
    workflow.end(new, "d")
    run = workflow.run(new)
    assert (run["Status"], counts(run)) == ("COMPLETED", {"Total": 5, "Succeeded": 4})
    assert workflow.states(old)["b"] == "FAILED"
    assert len(glue.get_workflow_runs(Name=NAME)["Runs"]) == 2


def test_only_the_first_of_chosen_nodes_that_follow_each_other_is_restarted(workflow: Workflow, glue: Any) -> None:
    old = workflow.start()
    for job in "abcd":
        workflow.end(old, job)
    a, d = (workflow.node(old, job)["UniqueId"] for job in "ad")
    answer = glue.resume_workflow_run(Name=NAME, RunId=old, NodeIds=[d, a])
    assert answer["NodeIds"] == [a]
    assert workflow.states(answer["RunId"]) == {"a": "STARTING"}


def test_what_cannot_be_resumed_is_refused_with_the_reason(workflow: Workflow, glue: Any) -> None:
    run_id = workflow.start()
    a, e = (workflow.node(run_id, job)["UniqueId"] for job in "ae")
    with refused("IllegalWorkflowStateException", "RUNNING"):
        glue.resume_workflow_run(Name=NAME, RunId=run_id, NodeIds=[a])
    for job in "abcd":
        workflow.end(run_id, job)
    trigger = nodes(workflow.run(run_id)["Graph"], "TRIGGER")[0]["UniqueId"]
    for chosen in ([], [e], [a, e], [trigger], ["nonsense"]):
        with refused("InvalidInputException", "NodeIds"):
            glue.resume_workflow_run(Name=NAME, RunId=run_id, NodeIds=chosen)
    assert len(glue.get_workflow_runs(Name=NAME)["Runs"]) == 1


def test_its_start_trigger_starts_the_workflow(workflow: Workflow, glue: Any) -> None:
    glue.start_trigger(Name="start")
    (run,) = glue.get_workflow_runs(Name=NAME)["Runs"]
    assert workflow.states(run["WorkflowRunId"]) == {"a": "STARTING"}


def test_a_scheduled_workflow_starts_when_it_is_due(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served, MaxConcurrentRuns=1, DefaultRunProperties={"a": "1"})
    workflow.jobs("a")
    workflow.begins("a", Type="SCHEDULED", Schedule="0/1 * * * * ?", StartOnCreation=True)
    fire_until(served, lambda: bool(glue.get_workflow_runs(Name=NAME)["Runs"]))
    (run,) = glue.get_workflow_runs(Name=NAME)["Runs"]
    assert (run["Status"], run["WorkflowRunProperties"]) == ("RUNNING", {"a": "1"})
    assert workflow.states(run["WorkflowRunId"]) == {"a": "STARTING"}


def test_outside_a_workflow_a_conditional_trigger_follows_runs_that_a_trigger_started(
    glue: Any, served: Served
) -> None:
    for job in "ab":
        make_job(glue, job)
    make_trigger(glue, "by-hand", jobs=("a",))
    predicate = {"Conditions": conditions(a="SUCCEEDED")}
    make_trigger(glue, "follow", jobs=("b",), Type="CONDITIONAL", Predicate=predicate, StartOnCreation=True)
    alone = glue.start_job_run(JobName="a")["JobRunId"]
    served.begin(alone)
    served.end(alone)
    assert states_of(glue, "b") == []
    glue.start_trigger(Name="by-hand")
    newest = glue.get_job_runs(JobName="a")["JobRuns"][0]["Id"]
    served.begin(newest)
    served.end(newest)
    (followed,) = glue.get_job_runs(JobName="b")["JobRuns"]
    assert (followed["TriggerName"], state_of(glue, followed["Id"], "b")) == ("follow", "STARTING")


@pytest.mark.parametrize("rules", ["guarded", "aws"])
@pytest.mark.parametrize("begun", [True, False])
def test_a_conditional_trigger_that_a_stop_fires_follows_the_rule_set(
    rules: str, begun: bool, served: Served, served_as_aws: Served
) -> None:
    server = served if rules == "guarded" else served_as_aws
    client = server.account().client()
    for job in "abc":
        make_job(client, job)
    make_trigger(client, "by-hand", jobs=("a",))
    predicate = {"Conditions": conditions(a="STOPPED")}
    make_trigger(client, "follow", jobs=("b", "c"), Type="CONDITIONAL", Predicate=predicate, StartOnCreation=True)
    client.start_trigger(Name="by-hand")
    (run,) = client.get_job_runs(JobName="a")["JobRuns"]
    if begun:
        server.begin(run["Id"])
    client.batch_stop_job_run(JobName="a", JobRunIds=[run["Id"]])
    if begun:
        server.end(run["Id"], RunState.STOPPED)
    assert states_of(client, "b") == ["STARTING"]
    assert states_of(client, "c") == ["WAITING" if rules == "guarded" else "STARTING"]
