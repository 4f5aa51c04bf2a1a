"""Triggers over the wire, with boto3."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused, states_of
from tests.faces.http.served import Account, Served
from waterclock.domain.moment import from_datetime, to_datetime
from waterclock.domain.trigger import Trigger, TriggerState
from waterclock.stores.ops.triggers import get_triggers

NIGHTLY = "cron(15 12 * * ? *)"
AFTER_JOB = {"Conditions": [{"LogicalOperator": "EQUALS", "JobName": "job", "State": "SUCCEEDED"}]}
AFTER_RUNNING = {"Conditions": [{"LogicalOperator": "EQUALS", "JobName": "job", "State": "RUNNING"}]}


@pytest.fixture
def job(glue: Any) -> str:
    return make_job(glue)


def shown(glue: Any, name: str = "trigger") -> dict[str, Any]:
    found: dict[str, Any] = glue.get_trigger(Name=name)["Trigger"]
    return found


def stored(account: Account, name: str = "trigger") -> Trigger:
    database = account.served.database
    read = database.read(get_triggers, org_id=account.org_id, namespace="glue", names=[name])
    return account.served.run(read)[name]


def test_a_trigger_comes_back_as_it_was_given(glue: Any, job: str) -> None:
    given = {
        "Type": "SCHEDULED",
        "Schedule": NIGHTLY,
        "Description": "noon",
        "Actions": [{"JobName": job, "Arguments": {"--a": "1"}, "Timeout": 5}, {"CrawlerName": "c"}],
    }
    assert glue.create_trigger(Name="trigger", Tags={"team": "x"}, **given)["Name"] == "trigger"
    trigger = shown(glue)
    assert {name: trigger[name] for name in given} == given
    assert (trigger["Name"], trigger["State"]) == ("trigger", "CREATED")
    assert {"Tags", "StartOnCreation"} & trigger.keys() == set()


def test_a_trigger_that_is_not_started_is_not_scheduled(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule=NIGHTLY, StartOnCreation=False)
    found = stored(account)
    assert (found.state, found.next_fire_at) == (TriggerState.STANDBY, None)


def test_a_trigger_started_on_creation_is_scheduled_at_once(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule=NIGHTLY, StartOnCreation=True)
    assert shown(glue)["State"] == "ACTIVATED"
    at = stored(account).next_fire_at
    assert at is not None
    assert (to_datetime(at).hour, to_datetime(at).minute) == (12, 15)


@pytest.mark.parametrize(
    "schedule",
    [
        "cron(0/5 8-17 ? * MON-FRI *)",
        "0/2 * * * * ?",
        "0 0 12 ? * 6#3",
        "*/5 * * * *",
        "@daily",
        "rate(5 minutes)",
        "at(2099-01-01T00:00:00)",
        "CRON_TZ=Europe/Berlin 0 12 * * *",
        "TZ=Asia/Seoul cron(0 12 * * ? *)",
    ],
)
def test_every_dialect_of_schedule_serves(glue: Any, job: str, account: Account, schedule: str) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule=schedule, StartOnCreation=True)
    assert shown(glue)["Schedule"] == schedule
    assert stored(account).next_fire_at is not None


def test_a_schedule_may_name_its_zone(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule="CRON_TZ=Asia/Seoul 0 12 * * *", StartOnCreation=True)
    at = stored(account).next_fire_at
    assert at is not None
    assert to_datetime(at).hour == 3


def test_a_rate_begins_to_count_when_it_is_defined(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule="rate(7 days)", StartOnCreation=True)
    found = stored(account)
    assert found.next_fire_at is not None
    wait = (found.next_fire_at - found.created_at) / 1_000_000
    assert 7 * 86400 - 60 < wait < 7 * 86400 + 60


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"Type": "SCHEDULED"}, "Schedule"),
        ({"Type": "SCHEDULED", "Schedule": ""}, "Schedule"),
        ({"Type": "SCHEDULED", "Schedule": "cron(61 * * * ? *)"}, "Schedule: .*minute.*61"),
        ({"Type": "SCHEDULED", "Schedule": "whenever"}, "Schedule"),
        ({"Type": "SCHEDULED", "Schedule": "rate(0 minutes)"}, "Schedule"),
        ({"Type": "SCHEDULED", "Schedule": "CRON_TZ=Europe/Nowhere 0 12 * * *"}, "Schedule: .*Nowhere"),
        ({"Type": "SCHEDULED", "Schedule": "x" * 5000}, "Schedule"),
        ({"Type": "SCHEDULED", "Schedule": NIGHTLY, "Predicate": AFTER_JOB}, "Predicate"),
        ({"Type": "ON_DEMAND", "Schedule": NIGHTLY}, "Schedule"),
        ({"Type": "ON_DEMAND", "StartOnCreation": True}, "StartOnCreation"),
        ({"Type": "CONDITIONAL"}, "Predicate"),
        ({"Type": "CONDITIONAL", "Predicate": {"Conditions": []}}, "Predicate"),
        ({"Type": "CONDITIONAL", "Predicate": AFTER_JOB, "Schedule": NIGHTLY}, "Schedule"),
        ({"Type": "CONDITIONAL", "Predicate": {"Conditions": AFTER_JOB["Conditions"] * 2}}, "Predicate.Logical"),
        ({"Type": "CONDITIONAL", "Predicate": {"Conditions": [{"JobName": "job"}]}}, "Logical operator"),
        ({"Type": "CONDITIONAL", "Predicate": {"Conditions": [{"State": "FAILED"}]}}, "JobName or CrawlerName"),
        ({"Type": "CONDITIONAL", "Predicate": AFTER_RUNNING}, "State"),
        ({"Type": "EVENT", "StartOnCreation": True}, "StartOnCreation"),
        ({"Type": "SOMETIMES"}, "type"),
        ({"Actions": []}, "Actions"),
        ({"Actions": [{}]}, r"Actions\[0\]"),
        ({"Actions": [{"JobName": "job", "CrawlerName": "c"}]}, "in an action"),
        ({"Actions": [{"JobName": "job", "Timeout": 99999}]}, "Timeout"),
        ({"Name": "x" * 256}, "name"),
    ],
)
def test_a_trigger_that_cannot_be_is_refused_with_the_reason(
    glue: Any, job: str, given: dict[str, Any], named: str
) -> None:
    with refused("InvalidInputException", named):
        make_trigger(glue, **given)
    assert glue.list_triggers()["TriggerNames"] == []


def test_all_jobs_of_a_trigger_must_exist(glue: Any, job: str) -> None:
    with refused("EntityNotFoundException", "Job nope not found"):
        make_trigger(glue, jobs=(job, "nope"))
    assert glue.list_triggers()["TriggerNames"] == []


def test_a_name_is_taken_once(glue: Any, job: str) -> None:
    make_trigger(glue)
    with refused("AlreadyExistsException"):
        make_trigger(glue)


def test_a_trigger_starts_stops_and_starts_again(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule=NIGHTLY)
    with refused("InvalidInputException", "only a RUNNING trigger"):
        glue.stop_trigger(Name="trigger")
    assert glue.start_trigger(Name="trigger")["Name"] == "trigger"
    assert shown(glue)["State"] == "ACTIVATED"
    with refused("InvalidInputException", "RUNNING already"):
        glue.start_trigger(Name="trigger")
    assert glue.stop_trigger(Name="trigger")["Name"] == "trigger"
    assert shown(glue)["State"] == "DEACTIVATED"
    assert stored(account).next_fire_at is None
    glue.start_trigger(Name="trigger")
    assert shown(glue)["State"] == "ACTIVATED"


def test_an_on_demand_trigger_fires_once_now_and_stays_created(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Actions=[{"JobName": job, "Arguments": {"--a": "trigger"}, "Timeout": 3}])
    glue.start_trigger(Name="trigger")
    (run,) = glue.get_job_runs(JobName=job)["JobRuns"]
    assert (run["TriggerName"], run["JobRunState"], run["Timeout"]) == ("trigger", "STARTING", 3)
    assert run["Arguments"] == {"--a": "trigger"}
    assert shown(glue)["State"] == "CREATED"
    with refused("InvalidInputException"):
        glue.stop_trigger(Name="trigger")


def test_a_conditional_trigger_can_be_kept_started_and_stopped(glue: Any, job: str) -> None:
    make_trigger(glue, Type="CONDITIONAL", Predicate=AFTER_JOB)
    assert shown(glue)["Predicate"] == AFTER_JOB
    glue.start_trigger(Name="trigger")
    assert shown(glue)["State"] == "ACTIVATED"
    glue.stop_trigger(Name="trigger")
    assert shown(glue)["State"] == "DEACTIVATED"


def test_an_event_trigger_is_kept_and_never_started(glue: Any, job: str) -> None:
    make_trigger(glue, Type="EVENT", EventBatchingCondition={"BatchSize": 5})
    with refused("InvalidInputException", "Trigger Type EVENT cannot be started"):
        glue.start_trigger(Name="trigger")
    assert shown(glue)["State"] == "CREATED"


def test_an_update_answers_with_the_new_trigger(glue: Any, job: str, account: Account) -> None:
    make_job(glue, "other")
    make_trigger(glue, Type="SCHEDULED", Schedule=NIGHTLY, Description="old")
    update = {"Schedule": "rate(1 hour)", "Actions": [{"JobName": "other"}]}
    answer = glue.update_trigger(Name="trigger", TriggerUpdate=update)["Trigger"]
    assert answer == shown(glue)
    assert (answer["Schedule"], answer["Actions"]) == ("rate(1 hour)", [{"JobName": "other"}])
    assert (answer["Type"], answer["State"]) == ("SCHEDULED", "CREATED")
    assert "Description" not in answer
    assert stored(account).generation == 2


def test_an_update_keeps_what_a_trigger_cannot_be_without(glue: Any, job: str) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule=NIGHTLY)
    answer = glue.update_trigger(Name="trigger", TriggerUpdate={"Description": "new"})["Trigger"]
    assert (answer["Schedule"], answer["Actions"]) == (NIGHTLY, [{"JobName": job}])
    assert answer["Description"] == "new"


@pytest.mark.parametrize(
    ("update", "code"),
    [
        ({"Schedule": "never"}, "InvalidInputException"),
        ({"Predicate": AFTER_JOB}, "InvalidInputException"),
        ({"Name": "another"}, "InvalidInputException"),
        ({"Actions": []}, "InvalidInputException"),
        ({"Actions": [{"JobName": "nope"}]}, "EntityNotFoundException"),
    ],
)
def test_a_refused_update_changes_nothing(glue: Any, job: str, update: dict[str, Any], code: str) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule=NIGHTLY)
    before = shown(glue)
    with refused(code):
        glue.update_trigger(Name="trigger", TriggerUpdate=update)
    assert shown(glue) == before


def test_a_deleted_trigger_is_gone_and_may_be_deleted_again(glue: Any, job: str) -> None:
    make_trigger(glue)
    for _ in range(2):
        assert glue.delete_trigger(Name="trigger")["Name"] == "trigger"
    for call in (glue.get_trigger, glue.start_trigger, glue.stop_trigger):
        with refused("EntityNotFoundException", "Trigger trigger not found"):
            call(Name="trigger")
    with refused("EntityNotFoundException"):
        glue.update_trigger(Name="trigger", TriggerUpdate={})


def test_triggers_are_listed_by_the_job_they_start(glue: Any, job: str) -> None:
    make_job(glue, "other")
    make_job(glue, "idle")
    make_trigger(glue, "a", jobs=("job",))
    make_trigger(glue, "b", jobs=("other", "job"))
    make_trigger(glue, "c", jobs=("other",))
    assert glue.list_triggers(DependentJobName="job")["TriggerNames"] == ["a", "b"]
    triggers = glue.get_triggers(DependentJobName="other")["Triggers"]
    assert [trigger["Name"] for trigger in triggers] == ["b", "c"]
    assert glue.list_triggers(DependentJobName="idle")["TriggerNames"] == []


def test_triggers_come_in_pages_in_batches_and_by_tag(glue: Any, job: str) -> None:
    names = [f"t{number}" for number in range(5)]
    for name in names:
        make_trigger(glue, name, Tags={"n": name})
    pages = list(glue.get_paginator("get_triggers").paginate(PaginationConfig={"PageSize": 2}))
    assert [trigger["Name"] for page in pages for trigger in page["Triggers"]] == names
    assert ["NextToken" in page for page in pages] == [True, True, False]
    token = glue.list_triggers(MaxResults=4)["NextToken"]
    assert glue.list_triggers(NextToken=token)["TriggerNames"] == names[4:]
    batch = glue.batch_get_triggers(TriggerNames=["t3", "nope", "t1"])
    assert [trigger["Name"] for trigger in batch["Triggers"]] == ["t3", "t1"]
    assert batch["TriggersNotFound"] == ["nope"]
    assert glue.list_triggers(Tags={"n": "t2"})["TriggerNames"] == ["t2"]


def test_an_action_on_a_crawler_is_recorded_and_not_shown_as_a_run(glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Actions=[{"CrawlerName": "crawler"}, {"JobName": job}])
    glue.start_trigger(Name="trigger")
    assert states_of(glue, job) == ["STARTING"]


def test_times_of_definition_do_not_move_a_schedule(served: Served, glue: Any, job: str, account: Account) -> None:
    make_trigger(glue, Type="SCHEDULED", Schedule="at(2099-01-01T00:00:00)", StartOnCreation=True)
    assert stored(account).next_fire_at == from_datetime(datetime(2099, 1, 1, tzinfo=UTC))
