"""The sentences that scripts and other people's test suites compare word by word."""

from datetime import UTC, datetime
from typing import Any

import pytest

from waterclock.domain import errors as ours
from waterclock.faces.glue.errors import refusal
from waterclock.faces.glue.job_spec import check_capacity
from waterclock.faces.glue.trigger_spec import trigger_spec

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
EQUALS = {"LogicalOperator": "EQUALS"}


def conditional(*conditions: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"Type": "CONDITIONAL", "Actions": [{"JobName": "a"}], "Predicate": {"Conditions": conditions}, **more}


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ours.NotFound("job", "load"), "Job load not found."),
        (ours.NotFound("run", "jr_1"), "Job run jr_1 not found."),
        (ours.NotFound("trigger", "nightly"), "Trigger nightly not found."),
        (ours.NotFound("crawler", "c"), "Crawler c not found."),
        (ours.NotFound("workflow", "w"), "Entity not found"),
        (ours.NotFound("workflow run", "wr_1"), "Entity not found"),
        (ours.ConcurrentRunsExceeded("load", 1), "Job with name load already running"),
        (ours.NotFound("log stream", "s"), "log stream 's' not found"),
        (ours.AlreadyExists("job", "load"), "job 'load' already exists"),
    ],
)
def test_what_the_domain_refuses_is_said_as_aws_says_it(error: ours.WaterclockError, sentence: str) -> None:
    assert refusal(error).message == sentence


def test_a_name_with_braces_is_told_as_it_is() -> None:
    assert refusal(ours.NotFound("job", "{name}")).message == "Job {name} not found."


@pytest.mark.parametrize(
    ("definition", "sentence"),
    [
        (
            {"Type": "ON_DEMAND", "Actions": [{"JobName": "a", "CrawlerName": "c"}]},
            "Both JobName and CrawlerName cannot be set together in an action",
        ),
        (conditional(), "Predicate cannot be null or empty"),
        (conditional(Predicate={}), "Predicate cannot be null or empty"),
        (conditional({"JobName": "a", "State": "SUCCEEDED"}), "Logical operator cannot be null or empty"),
        (conditional(EQUALS), "JobName or CrawlerName in condition cannot be null or empty"),
        (
            conditional({"JobName": "a", **EQUALS}),
            "State cannot be null or empty, choose from one of the following job state: "
            "[SUCCEEDED, STOPPED, FAILED, TIMEOUT]",
        ),
        (
            conditional({"CrawlerName": "a", **EQUALS}),
            "State cannot be null or empty, choose from one of the following crawler state: "
            "[SUCCEEDED, FAILED, CANCELLED]",
        ),
        (
            conditional({"JobName": "a", "State": "RUNNING", **EQUALS}),
            "Predicate.Conditions[0].State: must be one of SUCCEEDED, STOPPED, FAILED, TIMEOUT",
        ),
    ],
)
def test_what_a_trigger_lacks_is_said_as_aws_says_it(definition: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ours.InvalidInput) as refused:
        trigger_spec(definition, now=NOW)
    assert (refusal(refused.value).name, refusal(refused.value).message) == ("InvalidInputException", sentence)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"AllocatedCapacity": 2, "MaxCapacity": 5.0}, "Please set only Allocated Capacity or Max Capacity"),
        (
            {"MaxCapacity": 5.0, "WorkerType": "G.1X", "NumberOfWorkers": 2},
            "Please do not set Max Capacity if using Worker Type and Number of Workers.",
        ),
    ],
)
def test_capacity_is_said_in_one_way_only(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ours.InvalidInput) as refused:
        check_capacity(body)
    assert refusal(refused.value).message == sentence
