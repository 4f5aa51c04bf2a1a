"""What a CreateTrigger or TriggerUpdate body means to the engine, and the rules that depend on the trigger's type."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import Every, Schedule, parse_schedule, to_json
from waterclock.domain.trigger import Action, Condition, Logical, Predicate, Target, TriggerSpec, TriggerType
from waterclock.faces.glue.job_spec import notify_after_seconds, timeout_seconds
from waterclock.faces.glue.wording import NO_OPERATOR, NO_PREDICATE, NO_STATE, NOTHING_WATCHED, TWO_TARGETS, Worded

# AWS knows UTC only; crontabs have long named another zone in this way.
_ZONE: Final = re.compile(r"\s*(?:CRON_TZ|TZ)=(\S+)\s+(.*)", re.DOTALL)
# What a condition watches → the member that says for which state, what it is, and the states to wait for.
_STATES: Final = {
    "JobName": ("State", Target.JOB, ("SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT")),
    "CrawlerName": ("CrawlState", Target.CRAWLER, ("SUCCEEDED", "FAILED", "CANCELLED")),
}
_STARTS_ON_CREATION: Final = (TriggerType.SCHEDULED, TriggerType.CONDITIONAL)


def trigger_spec(definition: Mapping[str, Any], *, now: datetime) -> TriggerSpec:
    """`definition` is a body that the model has let through; `now` is when a `rate()` begins to count."""
    kind = TriggerType(definition["Type"])
    expression, schedule = _schedule(kind, definition.get("Schedule"), now)
    predicate = _predicate(kind, definition.get("Predicate"))
    return TriggerSpec(
        type=kind,
        actions=_actions(definition.get("Actions", ())),
        expression=expression,
        schedule=None if schedule is None else to_json(schedule),
        flow_name=definition.get("WorkflowName"),
        predicate=predicate,
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
    if job is not None and crawler is not None:
        raise Worded(TWO_TARGETS, field=f"Actions[{number}]")
    if job is None and crawler is None:
        raise InvalidInput("give either JobName or CrawlerName", field=f"Actions[{number}]")
    return Action(
        target=Target.CRAWLER if job is None else Target.JOB,
        name=str(crawler if job is None else job),
        arguments=given.get("Arguments", {}),
        timeout_seconds=timeout_seconds(given),
        notify_after_seconds=notify_after_seconds(given),
    )


def _predicate(kind: TriggerType, given: Mapping[str, Any] | None) -> Predicate | None:
    conditions = (given or {}).get("Conditions", ())
    if kind is TriggerType.CONDITIONAL and not conditions:
        raise Worded(NO_PREDICATE, field="Predicate")
    if kind is not TriggerType.CONDITIONAL and given:
        raise InvalidInput(f"a trigger of type {kind} takes no predicate", field="Predicate")
    if not given:
        return None
    if len(conditions) > 1 and "Logical" not in given:
        raise InvalidInput("several conditions need AND or ANY", field="Predicate.Logical")
    return Predicate(
        logical=Logical(given.get("Logical", Logical.AND)),
        conditions=tuple(_condition(f"Predicate.Conditions[{n}]", each) for n, each in enumerate(conditions)),
    )


def _condition(field: str, given: Mapping[str, Any]) -> Condition:
    watched = [name for name in _STATES if name in given]
    if not watched:
        raise Worded(NOTHING_WATCHED, field=field)
    if len(watched) > 1:
        raise InvalidInput("give either JobName or CrawlerName", field=field)
    if "LogicalOperator" not in given:
        raise Worded(NO_OPERATOR, field=f"{field}.LogicalOperator")
    member, target, states = _STATES[watched[0]]
    return Condition(target=target, name=given[watched[0]], state=_state(field, given, member, target, states))


def _state(field: str, given: Mapping[str, Any], member: str, watched: Target, states: Sequence[str]) -> str:
    if member not in given:
        raise Worded(NO_STATE.format(watched=watched, states=", ".join(states)), field=f"{field}.{member}")
    state = str(given[member])
    if state not in states:
        raise InvalidInput(f"must be one of {', '.join(states)}", field=f"{field}.{member}", value=state)
    return state
