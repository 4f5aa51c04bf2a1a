"""What an import would do, from values alone; the wire forms are those of AWS's own answers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from waterclock.faces.cli.importing.judging import judge
from waterclock.faces.cli.importing.plan import Judgement, Plan, Verdict, differences, plan
from waterclock.faces.cli.importing.thing import Kind, Thing, thing

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
# As GetJob of AWS shows a Spark job: its size in three ways, and what it was never given.
AWS_JOB = {
    "Name": "etl",
    "JobMode": "SCRIPT",
    "JobRunQueuingEnabled": False,
    "Description": "",
    "Role": "arn:aws:iam::123456789012:role/Glue",
    "CreatedOn": NOW,
    "LastModifiedOn": NOW,
    "ExecutionProperty": {"MaxConcurrentRuns": 1},
    "Command": {"Name": "glueetl", "ScriptLocation": "s3://bucket/etl.py", "PythonVersion": "3"},
    "DefaultArguments": {"--TempDir": "s3://bucket/tmp/", "--job-bookmark-option": "job-bookmark-enable"},
    "Connections": {"Connections": ["warehouse"]},
    "MaxRetries": 0,
    "AllocatedCapacity": 10,
    "Timeout": 2880,
    "MaxCapacity": 10.0,
    "WorkerType": "G.1X",
    "NumberOfWorkers": 10,
    "GlueVersion": "4.0",
    "ExecutionClass": "STANDARD",
    "ProfileName": "default",
}
AWS_TRIGGER = {
    "Name": "nightly",
    "Id": "tr_1",
    "Type": "SCHEDULED",
    "State": "ACTIVATED",
    "Schedule": "cron(15 12 * * ? *)",
    "Actions": [{"JobName": "etl"}],
}


def a_job(**more: Any) -> Thing:
    shown = {"Name": "etl", "Role": "r", "Command": {"Name": "pythonshell", "ScriptLocation": "file:///x.py"}, **more}
    return thing(Kind.JOB, shown, {})


def a_trigger(**more: Any) -> Thing:
    return thing(Kind.TRIGGER, {**AWS_TRIGGER, **more}, {})


def a_workflow(name: str = "flow") -> Thing:
    return thing(Kind.WORKFLOW, {"Name": name, "CreatedOn": NOW, "LastRun": {}, "Graph": {}}, {})


def welcome(_: Thing) -> Judgement:
    return Judgement()


def planned(there: list[Thing], here: list[Thing] | None = None) -> Plan:
    return plan(there, here or [], welcome)


def verdicts(found: Plan) -> list[tuple[str, str]]:
    return [(step.thing.name, str(step.verdict)) for step in found.steps]


def notes_of(found: Thing) -> str:
    judged = judge(found, now=NOW)
    assert judged.refused is None
    return "\n".join(judged.notes)


def test_of_what_aws_shows_only_what_create_takes_is_carried() -> None:
    body = thing(Kind.JOB, AWS_JOB).body
    dropped = {"CreatedOn", "LastModifiedOn", "ProfileName", "AllocatedCapacity", "MaxCapacity"}
    assert AWS_JOB.keys() - body.keys() == dropped
    trigger = thing(Kind.TRIGGER, AWS_TRIGGER)
    assert AWS_TRIGGER.keys() - trigger.body.keys() == {"Id", "State"}
    assert trigger.active
    assert a_workflow().body == {"Name": "flow"}


@pytest.mark.parametrize(
    ("size", "sent"),
    [
        ({"AllocatedCapacity": 2, "MaxCapacity": 2.0}, {"MaxCapacity": 2.0}),
        ({"AllocatedCapacity": 2}, {"AllocatedCapacity": 2}),
        ({"MaxCapacity": 0.0625}, {"MaxCapacity": 0.0625}),
        (
            {"WorkerType": "G.2X", "NumberOfWorkers": 2, "MaxCapacity": 4.0},
            {"WorkerType": "G.2X", "NumberOfWorkers": 2},
        ),
    ],
)
def test_a_size_that_is_shown_twice_is_sent_once(size: dict[str, Any], sent: dict[str, Any]) -> None:
    members = ("WorkerType", "NumberOfWorkers", "MaxCapacity", "AllocatedCapacity")
    body = a_job(**size).body
    assert {name: body[name] for name in members if name in body} == sent


def test_things_are_made_after_what_they_need() -> None:
    trigger = a_trigger(WorkflowName="flow")
    assert [step.thing.kind for step in planned([trigger, a_workflow(), a_job()]).steps] == list(Kind)


def test_what_is_here_and_the_same_is_passed_over() -> None:
    there = [a_job(), a_trigger(), a_workflow()]
    assert {step.verdict for step in planned(there, there).steps} == {Verdict.SAME}


@pytest.mark.parametrize(
    "shown",
    [
        {"JobMode": "SCRIPT", "Timeout": 2880, "MaxRetries": 0, "DefaultArguments": {}},
        {"ExecutionProperty": {"MaxConcurrentRuns": 1}, "JobRunQueuingEnabled": False},
        {"MaxCapacity": 0.0625, "AllocatedCapacity": 0},
        {"Command": {"Name": "pythonshell", "ScriptLocation": "file:///x.py", "PythonVersion": "3"}},
        {"Description": "", "Connections": {}},
    ],
)
def test_what_a_server_adds_is_no_difference(shown: dict[str, Any]) -> None:
    assert differences(a_job(), a_job(**shown)) == differences(a_job(**shown), a_job()) == ()


@pytest.mark.parametrize(
    ("shown", "differs"),
    [
        ({"Timeout": 5}, ("Timeout",)),
        ({"DefaultArguments": {"--a": ""}}, ("DefaultArguments",)),
        ({"DefaultArguments": {"Timeout": "2880"}}, ("DefaultArguments",)),
        ({"Command": {"Name": "shell"}, "Role": "other"}, ("Command", "Role")),
        ({"ExecutionProperty": {"MaxConcurrentRuns": 2}}, ("ExecutionProperty",)),
    ],
)
def test_a_difference_names_its_members(shown: dict[str, Any], differs: tuple[str, ...]) -> None:
    (step,) = planned([a_job()], [a_job(**shown)]).steps
    assert (step.verdict, step.differs) == (Verdict.DIFFERS, differs)


def test_the_timeout_of_an_action_is_compared_as_it_stands() -> None:
    changed = a_trigger(Actions=[{"JobName": "etl", "Timeout": 2880}])
    assert differences(a_trigger(), changed) == ("Actions",)


def test_how_conditions_are_joined_matters_where_there_are_several() -> None:
    def on(count: int, logical: str) -> Thing:
        condition = {"LogicalOperator": "EQUALS", "JobName": "etl", "State": "SUCCEEDED"}
        return a_trigger(Type="CONDITIONAL", Predicate={"Logical": logical, "Conditions": [condition] * count})

    assert differences(on(1, "AND"), on(1, "ANY")) == ()
    assert differences(on(2, "AND"), on(2, "ANY")) == ("Predicate",)


def test_tags_are_compared_where_both_are_known() -> None:
    there, here = (Thing(kind=Kind.JOB, name="etl", body={}, tags=tags) for tags in ({"a": "1"}, {"a": "2"}))
    unknown = Thing(kind=Kind.JOB, name="etl", body={})
    assert differences(there, here) == ("Tags",)
    assert differences(there, unknown) == differences(unknown, here) == ()


def test_what_needs_something_that_does_not_come_along_cannot_come_either() -> None:
    chained = a_trigger(
        Name="after",
        Type="CONDITIONAL",
        Predicate={"Conditions": [{"LogicalOperator": "EQUALS", "JobName": "lost", "State": "FAILED"}]},
    )
    found = planned([a_trigger(), chained, a_trigger(Name="inside", WorkflowName="flow")], [a_job()])
    assert verdicts(found) == [("nightly", "create"), ("after", "cannot"), ("inside", "cannot")]
    assert found.steps[1].reason == "needs the job 'lost', which is not here and does not come with it"
    assert "workflow 'flow'" in str(found.steps[2].reason)


def test_what_is_refused_takes_with_it_what_needs_it() -> None:
    refusing = {Kind.JOB: Judgement(refused="no")}
    found = plan([a_job(), a_trigger()], [], lambda thing: refusing.get(thing.kind, Judgement()))
    assert verdicts(found) == [("etl", "cannot"), ("nightly", "cannot")]


@pytest.mark.parametrize(
    ("shown", "here", "starts"),
    [
        ({}, None, True),
        ({"State": "CREATED"}, None, False),
        ({}, "CREATED", True),
        ({}, "ACTIVATED", False),
        ({"Type": "CONDITIONAL"}, None, True),
        ({"Type": "ON_DEMAND"}, None, False),
        ({"Type": "EVENT"}, None, False),
    ],
)
def test_only_what_waits_there_and_not_here_is_started(shown: dict[str, Any], here: str | None, starts: bool) -> None:
    ours = [] if here is None else [a_trigger(State=here)]
    (step,) = planned([a_trigger(**shown)], [a_job(), *ours]).steps
    assert step.starts is starts


def test_a_spark_job_of_aws_is_carried_with_what_it_will_lack() -> None:
    notes = notes_of(thing(Kind.JOB, AWS_JOB))
    for words in ("needs Spark", "on S3", "Connections are kept", "the size", "not acted on: --TempDir"):
        assert words in notes
    assert notes_of(a_job()) == ""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"Name": "glueray"}, "needs Ray"),
        ({"Name": "gluestreaming"}, "48 hours"),
        ({"Name": "cobol"}, "setting `interpreters`"),
    ],
)
def test_a_command_that_needs_something_says_what(command: dict[str, Any], words: str) -> None:
    assert words in notes_of(a_job(Command=command))


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        ({"Type": "EVENT", "Schedule": None}, "stay CREATED"),
        ({"Actions": [{"JobName": "a"}, {"JobName": "b"}]}, "changes meaning: under glue.rules = guarded"),
        ({"Actions": [{"CrawlerName": "c"}]}, "SKIPPED"),
    ],
)
def test_a_trigger_that_will_behave_otherwise_says_how(trigger: dict[str, Any], words: str) -> None:
    shown = {name: value for name, value in {**AWS_TRIGGER, **trigger}.items() if value is not None}
    assert words in notes_of(thing(Kind.TRIGGER, shown))


def test_a_condition_on_a_crawler_is_said_to_be_never_met() -> None:
    condition = {"LogicalOperator": "EQUALS", "CrawlerName": "c", "CrawlState": "SUCCEEDED"}
    shown = {**AWS_TRIGGER, "Type": "CONDITIONAL", "Predicate": {"Conditions": [condition]}}
    del shown["Schedule"]
    assert "never met" in notes_of(thing(Kind.TRIGGER, shown))


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (a_job(Timeout=999_999), "Timeout"),
        (a_job(Command={}), "Command.Name"),
        (a_job(Command={"Name": "shell", "ScriptLocation": "../../etc/x"}), "leaves the script folder"),
        (a_trigger(Schedule="cron(61 * * * ? *)"), "Schedule"),
    ],
)
def test_what_our_server_would_refuse_is_known_before(refused: Thing, words: str) -> None:
    assert words in str(judge(refused, now=NOW).refused)
