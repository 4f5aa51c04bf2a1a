"""What a CreateJob or JobUpdate body means to the engine, and the rules that the model cannot say."""

from collections.abc import Mapping
from posixpath import normpath
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.job import JobSpec
from waterclock.domain.labels import label_set
from waterclock.faces.glue.wording import CAPACITY_AND_WORKERS, TWO_CAPACITIES, Worded

MODULES_ARGUMENT: Final = "--additional-python-modules"
LABELS_ARGUMENT: Final = "--waterclock-labels"
MOST_RETRIES: Final = 10
MOST_MINUTES: Final = 7 * 24 * 60
DEFAULT_MINUTES: Final = 2880
LONGEST_KIND: Final = 64

# Command.Name as AWS has it → what runs it here. Any other name stands for itself: `shell`, `java`, an interpreter.
KINDS: Final = {
    "pythonshell": "python",
    "python": "python",
    "glueetl": "spark",
    "gluestreaming": "spark",
    "glueray": "ray",
}


def job_spec(definition: Mapping[str, Any]) -> JobSpec:
    """`definition` is a body that the model has let through."""
    command = definition["Command"]
    defaults = definition.get("DefaultArguments", {})
    fixed = definition.get("NonOverridableArguments", {})
    check_capacity(definition)
    return JobSpec(
        kind=kind_of(command),
        script=_script(command),
        default_arguments=defaults,
        fixed_arguments=fixed,
        max_concurrent=_max_concurrent(definition),
        queueing=definition.get("JobRunQueuingEnabled", False),
        retries=_within("MaxRetries", definition.get("MaxRetries", 0), 0, MOST_RETRIES),
        timeout_seconds=timeout_seconds(definition, default=DEFAULT_MINUTES),
        notify_after_seconds=notify_after_seconds(definition),
        python_modules=fixed.get(MODULES_ARGUMENT) or defaults.get(MODULES_ARGUMENT) or None,
        labels=_labels(fixed.get(LABELS_ARGUMENT) or defaults.get(LABELS_ARGUMENT) or ""),
    )


def kind_of(command: Mapping[str, Any]) -> str:
    name: str = command.get("Name", "").strip().lower()
    if not 1 <= len(name) <= LONGEST_KIND:
        raise InvalidInput(f"must have 1 to {LONGEST_KIND} characters", field="Command.Name", value=name)
    return KINDS.get(name, name)


def timeout_seconds(body: Mapping[str, Any], *, default: int | None = None) -> int | None:
    """`Timeout` is in minutes, at most seven days."""
    minutes = body.get("Timeout", default)
    return None if minutes is None else 60 * _within("Timeout", minutes, 1, MOST_MINUTES)


def notify_after_seconds(body: Mapping[str, Any]) -> int | None:
    minutes: int | None = body.get("NotificationProperty", {}).get("NotifyDelayAfter")
    return None if minutes is None else 60 * _within("NotifyDelayAfter", minutes, 1, MOST_MINUTES)


def _max_concurrent(definition: Mapping[str, Any]) -> int:
    wanted = definition.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)
    return _within("ExecutionProperty.MaxConcurrentRuns", wanted, 1, 2**31 - 1)


def _script(command: Mapping[str, Any]) -> str | None:
    """A path is one under the owner's script folder: it never climbs out. The runner looks again, links included."""
    location: str | None = command.get("ScriptLocation") or None
    if location and "://" not in location and normpath(location).split("/")[0] == "..":
        raise InvalidInput("leaves the script folder", field="Command.ScriptLocation", value=location)
    return location


def _labels(given: str) -> tuple[str, ...]:
    words = (word.strip() for word in given.split(","))
    return label_set((word for word in words if word), LABELS_ARGUMENT)


def check_capacity(body: Mapping[str, Any]) -> None:
    """AllocatedCapacity is the old name of MaxCapacity; workers say it in another way."""
    if "MaxCapacity" in body and "AllocatedCapacity" in body:
        raise Worded(TWO_CAPACITIES, field="AllocatedCapacity")
    if "MaxCapacity" in body and ("WorkerType" in body or "NumberOfWorkers" in body):
        raise Worded(CAPACITY_AND_WORKERS, field="MaxCapacity")


def _within(field: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise InvalidInput(f"must be {least} to {most}, not {value}", field=field, value=value)
    return value
