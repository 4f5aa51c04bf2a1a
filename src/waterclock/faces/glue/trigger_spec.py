"""What a CreateTrigger or TriggerUpdate body means to the engine, and the rules that depend on the trigger's type."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import Every, Schedule, parse_schedule, to_json
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.faces.glue.job_spec import notify_after_seconds, timeout_seconds

# AWS knows UTC only; crontabs have long named another zone in this way.
_ZONE: Final = re.compile(r"\s*(?:CRON_TZ|TZ)=(\S+)\s+(.*)", re.DOTALL)
_CONDITION_STATES: Final = ("SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT")
_STARTS_ON_CREATION: Final = (TriggerType.SCHEDULED, TriggerType.CONDITIONAL)


def trigger_spec(definition: Mapping[str, Any], *, now: datetime) -> TriggerSpec:
    """`definition` is a body that the model has let through; `now` is when a `rate()` begins to count."""
    kind = TriggerType(definition["Type"])
    expression, schedule = _schedule(kind, definition.get("Schedule"), now)
    _check_predicate(kind, definition.get("Predicate"))
    return TriggerSpec(
        type=kind,
        actions=_actions(definition.get("Actions", ())),
        expression=expression,
        schedule=None if schedule is None else to_json(schedule),
        flow_name=definition.get("WorkflowName"),
    )


def starts_on_creation(definition: Mapping[str, Any]) -> bool:
    start: bool = definition.get("StartOnCreation", False)
    kind = TriggerType(definition["Type"])
    if start and kind not in _STARTS_ON_CREATION:
        raise InvalidInput(f"Trigger Type {kind} cannot be started on creation", field="StartOnCreation", value=start)
    return start


def read_schedule(text: str, *, now: datetime) -> Schedule:
    """Any dialect, in UTC or in the zone of a leading `CRON_TZ=Europe/Berlin`.

    A rate counts from `now`, in whole seconds: its first fire is one interval later, whatever the store's clock says.
    """
    zoned = _ZONE.fullmatch(text)
    schedule = parse_schedule(zoned[2], timezone=zoned[1]) if zoned else parse_schedule(text)
    if isinstance(schedule, Every):
        begin = now.replace(microsecond=0) + timedelta(seconds=now.microsecond > 0)
        return Every(interval=schedule.interval, anchor=begin + schedule.interval)
    return schedule


def _schedule(kind: TriggerType, text: str | None, now: datetime) -> tuple[str | None, Schedule | None]:
    if kind is not TriggerType.SCHEDULED:
        if text:
            raise InvalidInput(f"a trigger of type {kind} takes no schedule", field="Schedule", value=text)
        return None, None
    if not text:
        raise InvalidInput("a trigger of type SCHEDULED needs a schedule", field="Schedule")
    try:
        return text, read_schedule(text, now=now)
    except InvalidInput as refused:
        raise InvalidInput(refused.reason, field="Schedule", value=text) from refused


def _actions(given: Sequence[Mapping[str, Any]]) -> tuple[Action, ...]:
    if not given:
        raise InvalidInput("a trigger needs at least one action", field="Actions")
    return tuple(_action(number, action) for number, action in enumerate(given))


def _action(number: int, given: Mapping[str, Any]) -> Action:
    job, crawler = given.get("JobName"), given.get("CrawlerName")
    if (job is None) == (crawler is None):
        raise InvalidInput("give either JobName or CrawlerName", field=f"Actions[{number}]")
    return Action(
        target=Target.CRAWLER if job is None else Target.JOB,
        name=str(crawler if job is None else job),
        arguments=given.get("Arguments", {}),
        timeout_seconds=timeout_seconds(given),
        notify_after_seconds=notify_after_seconds(given),
    )


def _check_predicate(kind: TriggerType, predicate: Mapping[str, Any] | None) -> None:
    conditions = (predicate or {}).get("Conditions", ())
    if kind is TriggerType.CONDITIONAL and not conditions:
        raise InvalidInput("a trigger of type CONDITIONAL needs a predicate with conditions", field="Predicate")
    if kind is not TriggerType.CONDITIONAL and predicate:
        raise InvalidInput(f"a trigger of type {kind} takes no predicate", field="Predicate")
    if len(conditions) > 1 and "Logical" not in (predicate or {}):
        raise InvalidInput("several conditions need AND or ANY", field="Predicate.Logical")
    for number, condition in enumerate(conditions):
        _check_condition(f"Predicate.Conditions[{number}]", condition)


def _check_condition(field: str, condition: Mapping[str, Any]) -> None:
    named = {"JobName", "CrawlerName"} & condition.keys()
    if len(named) != 1:
        raise InvalidInput("give either JobName or CrawlerName", field=field)
    state = "State" if "JobName" in condition else "CrawlState"
    if state not in condition:
        raise InvalidInput(f"needs {state}", field=field)
    if state == "State" and condition[state] not in _CONDITION_STATES:
        raise InvalidInput(f"must be one of {', '.join(_CONDITION_STATES)}", field=f"{field}.State")
