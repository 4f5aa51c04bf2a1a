"""From rows to domain values and back: the only place that knows both the columns and the types."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final, cast

import orjson

from waterclock.domain.job import Job, JobSpec
from waterclock.domain.labels import plain_set
from waterclock.domain.planning import Misfire, Policy
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.schedule import Schedule, from_json
from waterclock.domain.trigger import (
    Action,
    Condition,
    Fire,
    FireOutcome,
    Logical,
    Predicate,
    Target,
    Trigger,
    TriggerSpec,
    TriggerState,
    TriggerType,
)
from waterclock.stores.base import Row

NOTHING: Final[Mapping[str, Any]] = {}
LARGEST_KEPT: Final = 65_536  # characters
_SPEC_FIELDS: Final = frozenset(field.name for field in fields(JobSpec))
_ATTEMPT_FIELDS: Final = tuple(
    field.name for field in fields(Attempt) if field.name not in {"state", "arguments", "settings"}
)


def dumped(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def storable(text: str | None) -> str | None:
    """What a program said may hold anything; NUL and lone surrogates are what no database takes."""
    if text is None or (text.isascii() and "\0" not in text):
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def loaded(text: str | None) -> dict[str, Any]:
    return cast(dict[str, Any], orjson.loads(text)) if text else {}


def spec_of(text: str) -> JobSpec:
    """Versions never change, so neither does what is read from one: it is kept, unless it carries a whole program."""
    return _kept_spec(text) if len(text) <= LARGEST_KEPT else _spec(text)


@lru_cache(maxsize=4096)
def _kept_spec(text: str) -> JobSpec:
    return _spec(text)


def _spec(text: str) -> JobSpec:
    """Fields of a newer release are passed over."""
    given = {name: value for name, value in loaded(text).items() if name in _SPEC_FIELDS}
    given["labels"] = plain_set(given.get("labels", ()))  # an earlier release kept them as they were given
    return JobSpec(**given)


@lru_cache(maxsize=65536)
def schedule_of(text: str) -> Schedule:
    """Schedules are pure values: the same text is the same schedule."""
    return from_json(loaded(text))


@lru_cache(maxsize=1024)
def misfire_of(text: str) -> Misfire:
    """What the trigger's settings leave out is the default."""
    given = loaded(text)
    default = Misfire()
    return Misfire(
        policy=Policy(given.get("policy", default.policy)),
        grace=timedelta(seconds=given["grace_seconds"]) if "grace_seconds" in given else default.grace,
        cap=given.get("cap", default.cap),
        coalesce=given.get("coalesce", default.coalesce),
    )


def job_of(row: Row) -> Job:
    return _job(row, definition=loaded(row["definition"]), tags=loaded(row["tags"]))


def job_to_start(row: Row) -> Job:
    """Without definition and tags: a run needs neither, and thousands may be due."""
    return _job(row, definition=NOTHING, tags=NOTHING)


def _job(row: Row, *, definition: Mapping[str, object], tags: Mapping[str, str]) -> Job:
    return Job(
        id=row["id"],
        org_id=row["org_id"],
        namespace=row["namespace"],
        name=row["name"],
        owner=row["owner"],
        version=row["version"],
        spec=spec_of(row["spec"]),
        definition=definition,
        tags=tags,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def action_of(row: Row) -> Action:
    return Action(
        target=Target(row["target"]),
        name=row["name"],
        arguments=loaded(row["arguments"]),
        timeout_seconds=row["timeout_seconds"],
        notify_after_seconds=row["notify_after_seconds"],
    )


def action_row(trigger: Mapping[str, object], number: int, action: Action) -> dict[str, object]:
    return {
        "trigger_id": trigger["id"],
        "action_no": number,
        "org_id": trigger["org_id"],
        "namespace": trigger["namespace"],
        "target": action.target,
        "name": action.name,
        "arguments": dumped(action.arguments),
        "timeout_seconds": action.timeout_seconds,
        "notify_after_seconds": action.notify_after_seconds,
    }


def condition_of(row: Row) -> Condition:
    return Condition(target=Target(row["target"]), name=row["name"], state=row["state"])


def condition_row(trigger: Mapping[str, object], number: int, condition: Condition) -> dict[str, object]:
    return {
        "trigger_id": trigger["id"],
        "condition_no": number,
        "org_id": trigger["org_id"],
        "namespace": trigger["namespace"],
        "target": condition.target,
        "name": condition.name,
        "state": condition.state,
    }


def trigger_of(row: Row, actions: tuple[Action, ...], conditions: tuple[Condition, ...] = ()) -> Trigger:
    return Trigger(
        id=row["id"],
        org_id=row["org_id"],
        namespace=row["namespace"],
        name=row["name"],
        owner=row["owner"],
        spec=TriggerSpec(
            type=TriggerType(row["type"]),
            actions=actions,
            expression=row["expression"],
            schedule=loaded(row["schedule"]) or None,
            misfire=loaded(row["misfire"]),
            flow_name=row["flow_name"],
            predicate=Predicate(logical=Logical(row["logical"]), conditions=conditions) if conditions else None,
        ),
        state=TriggerState(row["state"]),
        version=row["version"],
        generation=row["generation"],
        next_fire_at=row["next_fire_at"],
        definition=loaded(row["definition"]),
        tags=loaded(row["tags"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def attempt_of(row: Row) -> Attempt:
    """`row` is of one of the whole_attempts statements."""
    values = {name: row[name] for name in _ATTEMPT_FIELDS}
    return Attempt(
        **values,
        state=RunState(row["state"]),
        arguments=loaded(row["arguments"]),
        settings=loaded(row["settings"]),
    )


def fire_of(row: Row) -> Fire:
    return Fire(
        id=row["id"],
        trigger_id=row["trigger_id"],
        trigger_name=row["trigger_name"],
        fire_at=row["fire_at"],
        outcome=FireOutcome(row["outcome"]),
        reason=row["reason"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        count=row["instants"],
        created_at=row["created_at"],
    )
