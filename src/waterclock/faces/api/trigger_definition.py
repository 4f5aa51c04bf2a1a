"""A trigger as it is defined and shown here."""

from collections.abc import Mapping
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import to_iso
from waterclock.domain.planning import MOST_CAP, Policy
from waterclock.domain.schedule import to_json
from waterclock.domain.trigger import Action, Fire, Target, Trigger, TriggerSpec, TriggerType
from waterclock.faces.api import schedules
from waterclock.faces.api.fields import MOST_SECONDS, Fields, inner, integer, number, one_of, several, text, texts
from waterclock.faces.iso import to_iso_or_none

ACTION: Final[Fields] = {
    "job": text(),
    "arguments": texts(),
    "timeout_seconds": integer(1, MOST_SECONDS),
    "notify_after_seconds": integer(1, MOST_SECONDS),
}
MISFIRE: Final[Fields] = {
    "policy": one_of(Policy),
    "grace_seconds": number(0, MOST_SECONDS),
    "cap": integer(1, MOST_CAP),
}
OF_SCHEDULED: Final[Fields] = {**schedules.FIELDS, "misfire": inner(MISFIRE)}
FIELDS: Final[Fields] = {
    **OF_SCHEDULED,
    "type": one_of(TriggerType, among=(TriggerType.SCHEDULED, TriggerType.ON_DEMAND)),
    "actions": several(inner(ACTION, required=("job",)), 1_000, least=1),
}


def spec_of(given: Mapping[str, Any], seed: str) -> TriggerSpec:
    kind = given.get("type", TriggerType.SCHEDULED if "schedule" in given else TriggerType.ON_DEMAND)
    return TriggerSpec(
        type=kind,
        actions=tuple(_action(action) for action in given["actions"]),
        expression=given.get("schedule"),
        schedule=_schedule(kind, given, seed),
        misfire=_misfire(given.get("misfire", {})),
    )


def rendered(trigger: Trigger) -> dict[str, object]:
    spec = trigger.spec
    return {
        "id": trigger.id,
        "namespace": trigger.namespace,
        "name": trigger.name,
        "owner": trigger.owner,
        "type": spec.type,
        "state": trigger.state,
        "schedule": spec.expression,
        **schedules.described(spec.schedule),
        "misfire": spec.misfire,
        "actions": [_rendered_action(action) for action in spec.actions],
        "next_fire_at": to_iso_or_none(trigger.next_fire_at),
        "generation": trigger.generation,
        "created_at": to_iso(trigger.created_at),
        "updated_at": to_iso(trigger.updated_at),
    }


def rendered_fire(fire: Fire) -> dict[str, object]:
    """One row may cover many skipped instants: from the first to the last, so many."""
    return {
        "id": fire.id,
        "fire_at": to_iso(fire.fire_at),
        "outcome": fire.outcome,
        "reason": fire.reason,
        "first_at": to_iso(fire.first_at),
        "last_at": to_iso(fire.last_at),
        "count": fire.count,
        "recorded_at": to_iso(fire.created_at),
    }


def _schedule(kind: TriggerType, given: Mapping[str, Any], seed: str) -> Mapping[str, object] | None:
    if kind is TriggerType.ON_DEMAND:
        for name in given:
            if name in OF_SCHEDULED:
                raise InvalidInput("is only for SCHEDULED triggers", field=name)
        return None
    if "schedule" not in given:
        raise InvalidInput("is required for a SCHEDULED trigger", field="schedule")
    return to_json(schedules.schedule_of(given, seed))


def _misfire(given: Mapping[str, Any]) -> dict[str, object]:
    return {name: value.value if isinstance(value, Policy) else value for name, value in given.items()}


def _action(given: Mapping[str, Any]) -> Action:
    options = {name: value for name, value in given.items() if name != "job"}
    return Action(target=Target.JOB, name=given["job"], **options)


def _rendered_action(action: Action) -> dict[str, object]:
    return {
        action.target.value: action.name,
        "arguments": action.arguments,
        "timeout_seconds": action.timeout_seconds,
        "notify_after_seconds": action.notify_after_seconds,
    }
