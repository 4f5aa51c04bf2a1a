"""Workflows over the wire, with boto3: defined, shown, listed, changed and deleted under both rule sets."""

from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused
from tests.faces.glue.workflows import NAME, Workflow, conditions, diamond, edges, nodes
from tests.faces.http.served import Account, Served
from waterclock.domain.access import Role


def shown(client: Any, name: str = NAME, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.get_workflow(Name=name, **more)["Workflow"]
    return found


def test_a_workflow_comes_back_as_it_was_given(glue: Any) -> None:
    properties = {"day": "today", "empty": ""}
    given = {"Description": "dünn\n💧", "DefaultRunProperties": properties, "MaxConcurrentRuns": 3}
    assert glue.create_workflow(Name=NAME, Tags={"team": "x"}, **given)["Name"] == NAME
    found = shown(glue)
    assert {name: found[name] for name in given} == given
    assert found["CreatedOn"] == found["LastModifiedOn"]
    assert found.keys() == {"Name", "CreatedOn", "LastModifiedOn", *given}


def test_a_workflow_needs_nothing_but_its_name(glue: Any) -> None:
    glue.create_workflow(Name="việc 🚀")
    assert shown(glue, "việc 🚀").keys() == {"Name", "CreatedOn", "LastModifiedOn"}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"Name": "two\nlines"}, "name"),
        ({"Name": "x" * 256}, "name"),
        ({"Description": "x" * 120_001}, "description"),
        ({"DefaultRunProperties": {"x" * 256: "1"}}, "defaultRunProperties"),
        ({"MaxConcurrentRuns": 0}, "MaxConcurrentRuns"),
        ({"MaxConcurrentRuns": -1}, "MaxConcurrentRuns"),
        ({"Tags": {str(number): "" for number in range(51)}}, "tags"),
    ],
)
def test_a_workflow_that_cannot_be_is_refused_with_the_reason(glue: Any, given: dict[str, Any], named: str) -> None:
    with refused("InvalidInputException", named):
        glue.create_workflow(**{"Name": NAME, **given})
    assert glue.list_workflows()["Workflows"] == []


def test_a_name_is_taken_once(glue: Any) -> None:
    glue.create_workflow(Name=NAME)
    with refused("AlreadyExistsException", NAME):
        glue.create_workflow(Name=NAME)


def test_an_update_overwrites_all_that_can_be_set(glue: Any) -> None:
    glue.create_workflow(Name=NAME, Description="old", DefaultRunProperties={"a": "1"}, MaxConcurrentRuns=1)
    before = shown(glue)
    assert glue.update_workflow(Name=NAME, DefaultRunProperties={"b": "2"})["Name"] == NAME
    found = shown(glue)
    assert found["DefaultRunProperties"] == {"b": "2"}
    assert not {"Description", "MaxConcurrentRuns"} & found.keys()
    assert found["CreatedOn"] == before["CreatedOn"]
    assert found["LastModifiedOn"] >= before["LastModifiedOn"]
    runs = [glue.start_workflow_run(Name=NAME)["RunId"] for _ in range(2)]
    assert glue.get_workflow_run_properties(Name=NAME, RunId=runs[0])["RunProperties"] == {"b": "2"}


def test_a_refused_update_changes_nothing(glue: Any) -> None:
    glue.create_workflow(Name=NAME, Description="old")
    before = shown(glue)
    with refused("InvalidInputException", "MaxConcurrentRuns"):
        glue.update_workflow(Name=NAME, MaxConcurrentRuns=0)
    assert shown(glue) == before


def test_a_deleted_workflow_is_gone_and_may_be_deleted_again(glue: Any) -> None:
    glue.create_workflow(Name=NAME)
    run_id = glue.start_workflow_run(Name=NAME)["RunId"]
    for _ in range(2):
        assert glue.delete_workflow(Name=NAME)["Name"] == NAME
    assert glue.list_workflows()["Workflows"] == []
    glue.create_workflow(Name=NAME)
    assert glue.get_workflow_runs(Name=NAME)["Runs"] == []
    with refused("EntityNotFoundException"):
        glue.resume_workflow_run(Name=NAME, RunId=run_id, NodeIds=["x"])


def test_what_names_an_unknown_workflow_or_run_is_refused_in_awss_words(glue: Any) -> None:
    glue.create_workflow(Name=NAME)
    run_id = glue.start_workflow_run(Name=NAME)["RunId"]
    of_workflow = (glue.get_workflow, glue.update_workflow, glue.start_workflow_run, glue.get_workflow_runs)
    for call in of_workflow:
        with refused("EntityNotFoundException", "Entity not found$"):
            call(Name="nobody")
    of_run: tuple[tuple[Any, dict[str, Any]], ...] = (
        (glue.get_workflow_run, {}),
        (glue.stop_workflow_run, {}),
        (glue.get_workflow_run_properties, {}),
        (glue.put_workflow_run_properties, {"RunProperties": {}}),
        (glue.resume_workflow_run, {"NodeIds": ["x"]}),
    )
    for call, more in of_run:
        for name, wire_id in (("nobody", run_id), (NAME, "wr_nobody")):
            with refused("EntityNotFoundException", "Entity not found$"):
                call(Name=name, RunId=wire_id, **more)


def test_another_organisation_sees_nothing(glue: Any, served: Served) -> None:
    glue.create_workflow(Name=NAME)
    run_id = glue.start_workflow_run(Name=NAME)["RunId"]
    other = served.account().client()
    assert other.list_workflows()["Workflows"] == []
    other.create_workflow(Name=NAME)
    with refused("EntityNotFoundException"):
        other.get_workflow_run(Name=NAME, RunId=run_id)
    with refused("EntityNotFoundException"):
        other.put_workflow_run_properties(Name=NAME, RunId=run_id, RunProperties={"a": "b"})


def test_the_owner_changes_an_operator_runs_a_viewer_looks(glue: Any, account: Account) -> None:
    glue.create_workflow(Name=NAME)
    stranger = account.client(Role.AUTHOR, "stranger")
    for call in (stranger.update_workflow, stranger.delete_workflow):
        with refused("AccessDeniedException", "belongs to 'author'"):
            call(Name=NAME)
    viewer, operator = account.client(Role.VIEWER), account.client(Role.OPERATOR)
    with refused("AccessDeniedException"):
        operator.create_workflow(Name="other")
    run_id = operator.start_workflow_run(Name=NAME)["RunId"]
    operator.put_workflow_run_properties(Name=NAME, RunId=run_id, RunProperties={"a": "1"})
    assert viewer.get_workflow_run(Name=NAME, RunId=run_id)["Run"]["WorkflowRunProperties"] == {"a": "1"}
    for call, more in (
        (viewer.start_workflow_run, {}),
        (viewer.stop_workflow_run, {"RunId": run_id}),
        (viewer.resume_workflow_run, {"RunId": run_id, "NodeIds": ["x"]}),
        (viewer.put_workflow_run_properties, {"RunId": run_id, "RunProperties": {}}),
    ):
        with refused("AccessDeniedException"):
            call(Name=NAME, **more)
    account.client(Role.ADMIN).update_workflow(Name=NAME)


def test_workflows_come_in_pages_and_in_batches(glue: Any) -> None:
    names = [f"w{number}" for number in range(5)]
    for name in names:
        glue.create_workflow(Name=name)
    first = glue.list_workflows(MaxResults=3)
    assert first["Workflows"] == names[:3]
    last = glue.list_workflows(MaxResults=3, NextToken=first["NextToken"])
    assert (last["Workflows"], "NextToken" in last) == (names[3:], False)
    batch = glue.batch_get_workflows(Names=["w3", "nope", "w1", "w3"])
    assert [workflow["Name"] for workflow in batch["Workflows"]] == ["w3", "w1"]
    assert batch["MissingWorkflows"] == ["nope"]
    with refused("InvalidInputException", "names"):
        glue.batch_get_workflows(Names=[str(number) for number in range(26)])
    with refused("InvalidInputException", "maxResults"):
        glue.list_workflows(MaxResults=26)
    with refused("InvalidInputException", "NextToken"):
        glue.get_workflow_runs(Name="w1", NextToken=first["NextToken"])


def test_the_graph_shows_what_a_run_would_be(glue: Any, served: Served) -> None:
    workflow = diamond(glue, served)
    workflow.then("standing-by", "e", active=False, d="SUCCEEDED", a="FAILED")
    found = shown(glue, IncludeGraph=True)
    graph = found["Graph"]
    assert "LastRun" not in found
    assert graph["Nodes"][0]["Name"] == "start"
    assert [node["Name"] for node in nodes(graph, "JOB")] == ["a", "b", "c", "e", "d", "e"]
    assert edges(graph) == {
        *(("start", "a"), ("a", "after-a"), ("after-a", "b"), ("a", "after-a-too"), ("after-a-too", "c")),
        *(("b", "join"), ("c", "join"), ("join", "d"), ("b", "alarm"), ("c", "alarm"), ("alarm", "e")),
        *(("d", "standing-by"), ("a", "standing-by"), ("standing-by", "e")),
    }
    for node in nodes(graph, "TRIGGER"):
        assert node["TriggerDetails"]["Trigger"] == glue.get_trigger(Name=node["Name"])["Trigger"]
    assert not any("JobDetails" in node for node in nodes(graph, "JOB"))
    assert len({node["UniqueId"] for node in graph["Nodes"]}) == len(graph["Nodes"]) == 12
    (again,) = glue.batch_get_workflows(Names=[NAME], IncludeGraph=True)["Workflows"]
    assert again["Graph"] == graph
    assert "Graph" not in shown(glue)


def test_a_workflow_has_one_start_trigger(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    workflow.jobs("a")
    workflow.begins("a")
    with refused("InvalidInputException", "'start'"):
        make_trigger(glue, "second", jobs=("a",), WorkflowName=NAME)
    with refused("EntityNotFoundException", "Entity not found$"):
        make_trigger(glue, "third", jobs=("a",), WorkflowName="nobody")


def test_an_update_of_a_trigger_leaves_it_in_its_workflow(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    glue.create_workflow(Name="other")
    workflow.jobs("a", "b")
    workflow.begins("a")
    workflow.then("next", "b", active=False, a="SUCCEEDED")
    update = {"Predicate": {"Conditions": conditions(a="FAILED")}}
    assert glue.update_trigger(Name="next", TriggerUpdate=update)["Trigger"]["WorkflowName"] == NAME
    glue.start_trigger(Name="next")
    run_id = workflow.start()
    workflow.end(run_id, "a")
    assert workflow.status(run_id) == "COMPLETED"
    assert workflow.states(run_id) == {"a": "SUCCEEDED"}


def test_guarded_a_workflow_with_a_live_run_is_not_deleted(glue: Any, served: Served) -> None:
    workflow = diamond(glue, served)
    run_id = workflow.start()
    with refused("InvalidInputException", "live run"):
        glue.delete_workflow(Name=NAME)
    glue.update_workflow(Name=NAME, Description="changed under it")
    glue.stop_workflow_run(Name=NAME, RunId=run_id)
    glue.delete_workflow(Name=NAME)
    assert glue.get_trigger(Name="join")["Trigger"]["WorkflowName"] == NAME


def test_aws_a_workflow_may_be_deleted_under_its_run_which_goes_on(served_as_aws: Served) -> None:
    aws = served_as_aws.account().client()
    workflow = diamond(aws, served_as_aws)
    run_id = workflow.start()
    aws.delete_workflow(Name=NAME)
    for job in "abcd":
        workflow.end(run_id, job)
    assert workflow.status(run_id) == "COMPLETED"
    with refused("EntityNotFoundException"):
        workflow.start()


def test_a_crawler_is_a_node_that_is_never_run(glue: Any, served: Served) -> None:
    workflow = Workflow(glue, served)
    make_job(glue, "a")
    actions = [{"CrawlerName": "crawler"}, {"JobName": "a"}]
    glue.create_trigger(Name="start", Type="ON_DEMAND", WorkflowName=NAME, Actions=actions)
    (crawler,) = nodes(shown(glue, IncludeGraph=True)["Graph"], "CRAWLER")
    assert crawler["Name"] == "crawler"
    run_id = workflow.start()
    workflow.end(run_id, "a")
    run = workflow.run(run_id)
    assert run["Status"] == "COMPLETED"
    (crawler,) = nodes(run["Graph"], "CRAWLER")
    assert crawler["CrawlerDetails"] == {"Crawls": []}
