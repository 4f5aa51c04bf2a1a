"""From the options of a program, or of its configuration file, to what a scheduler is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, Final, TypeVar

from waterclock.executors.base import BaseExecutor
from waterclock.executors.registry import create_executor
from waterclock.faces.library.declaring import CHECKS
from waterclock.faces.library.references import resolve
from waterclock.jobstores.base import BaseJobStore
from waterclock.jobstores.registry import create_jobstore
from waterclock.triggers.dates import zone_for

T = TypeVar("T")

# A run that comes late is made up for within a minute: APScheduler's second is shorter than many a burst of jobs.
JOB_DEFAULTS: Final[Mapping[str, Any]] = {
    "misfire_grace_time": 60,
    "coalesce": True,
    "max_instances": 1,
    "queue": False,
    "timeout": None,
    "retries": 0,
    "backoff": 0.0,
}
TRUE: Final = frozenset({"true", "yes", "on", "y", "t", "1"})
FALSE: Final = frozenset({"false", "no", "off", "n", "f", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    timezone: tzinfo
    job_defaults: Mapping[str, Any]
    executors: Mapping[str, BaseExecutor] = field(default_factory=dict)
    jobstores: Mapping[str, BaseJobStore] = field(default_factory=dict)


def options_from(given: Mapping[str, Any], prefix: str | None) -> dict[str, Any]:
    """`{"apscheduler.executors.default": …}` as `{"executors": {"default": …}}`, without what lacks the prefix."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if prefix and not key.startswith(prefix):
            continue
        *parents, last = key.removeprefix(prefix or "").split(".")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return found


def configuration_from(options: Mapping[str, Any]) -> Configuration:
    return Configuration(
        timezone=zone_for(options.get("timezone")),
        job_defaults=_job_defaults(options.get("job_defaults", {})),
        executors=_made("executor", options.get("executors", {}), BaseExecutor, create_executor),
        jobstores=_made("job store", options.get("jobstores", {}), BaseJobStore, create_jobstore),
    )


def boolean(value: Any) -> bool:
    """As a configuration file may say it."""
    word = str(value).strip().lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise ValueError(f"Unable to interpret value {value!r} as boolean")


def object_at(given: Any) -> Any:
    """A textual reference as what it refers to. One into APScheduler means its namesake here."""
    if not isinstance(given, str):
        return given
    ours = given.removeprefix("apscheduler.")
    return resolve(given if ours == given else f"waterclock.{ours}")


def _job_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(given) - set(JOB_DEFAULTS)):
        raise ValueError(f"job_defaults has no {', '.join(unknown)}: it may have {', '.join(JOB_DEFAULTS)}")
    return {
        name: default if name not in given else CHECKS[name](_read(given[name], default))
        for name, default in JOB_DEFAULTS.items()
    }


def _read(value: Any, default: Any) -> Any:
    """A number or a truth in the words of a configuration file."""
    if isinstance(default, bool):
        return boolean(value)
    if not isinstance(value, str):
        return value
    return None if value.lower() == "none" else float(value) if "." in value else int(value)


def _made(what: str, given: Mapping[str, Any], kind: type[Any], create: Callable[[Any, Any], T]) -> dict[str, T]:
    """By alias: an instance as it is, else one made from `type` (a plug-in's name) or `class` (a reference)."""
    found: dict[str, T] = {}
    for alias, value in given.items():
        if isinstance(value, kind):
            found[alias] = value
        elif isinstance(value, MutableMapping):
            options = dict(value)
            made_from, plugin = options.pop("class", None), options.pop("type", None)
            if not plugin and not made_from:
                raise ValueError(f'Cannot create {what} "{alias}" -- either "type" or "class" must be defined')
            found[alias] = create(plugin, options) if plugin else object_at(made_from)(**options)
        else:
            names = f"{what.replace(' ', '')}s['{alias}']"
            raise TypeError(f"Expected {what} instance or dict for {names}, got {type(value).__name__} instead")
    return found
