"""What a program may say of a job: checked as a whole, before anything of it is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta, tzinfo
from typing import Any, Final

from waterclock.domain.library import LONGEST_EXECUTOR
from waterclock.faces.library.keeping import Declared
from waterclock.faces.library.references import check_callable_args, reference_of, resolve
from waterclock.triggers.dates import moment_of

CALL: Final = ("func", "args", "kwargs")
LONGEST_BACKOFF: Final = 3600.0


def changed(job: Declared, changes: Mapping[str, Any], zone: tzinfo) -> Declared:
    """The job with these changes; AttributeError, TypeError or ValueError, and no change at all, where one is wrong."""
    if "id" in changes:
        raise ValueError("The job ID may not be changed")
    others = {name: value for name, value in changes.items() if name not in CALL}
    given = approved(others, zone)
    if len(others) < len(changes):
        func, args, kwargs = (changes.get(name, getattr(job, name)) for name in CALL)
        given |= checked_call(func, args, kwargs, None if "func" in changes else job.func_ref)
        given |= {"unread": None} if {"args", "kwargs"} & changes.keys() else {}
    if given.get("next_run_time") is not None:
        given["problem"] = None  # it is to run again
    return replace(job, **given)


def approved(given: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """What is said of a job besides what it calls, as it is kept."""
    if unknown := [name for name in given if name not in CHECKS and name != "next_run_time"]:
        raise AttributeError(f"The following are not modifiable attributes of Job: {', '.join(unknown)}")
    found = {name: CHECKS[name](value) for name, value in given.items() if name in CHECKS}
    if "next_run_time" in given:
        moment = given["next_run_time"]
        found["next_run_time"] = None if moment is None else moment_of(moment, zone, "next_run_time")
    return found


def checked_call(func: Any, args: Any, kwargs: Any, reference: str | None = None) -> dict[str, Any]:
    """The callable, its reference (None where it has none: then only memory can keep it), and its arguments.

    `reference`, where it is known already: what was given as a text need not say where it is.
    """
    if isinstance(func, str):
        reference, func = func, resolve(func)
    elif callable(func):
        reference = reference or _reference(func)
    elif reference:
        func = resolve(reference)
    else:
        raise TypeError("func must be a callable or a textual reference to one")
    args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
    if isinstance(args, str) or not isinstance(args, Iterable):
        raise TypeError("args must be a non-string iterable")
    if isinstance(kwargs, str) or not isinstance(kwargs, Mapping):
        raise TypeError("kwargs must be a dict-like object")
    args, kwargs = tuple(args), dict(kwargs)
    check_callable_args(func, args, kwargs)
    return {"func": func, "func_ref": reference, "args": args, "kwargs": kwargs}


def checked_id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("id must be a nonempty string")
    return value


def _reference(func: Callable[..., Any]) -> str | None:
    try:
        return reference_of(func)
    except ValueError:
        return None


def _name(value: Any) -> str:
    if not value or not isinstance(value, str):
        raise TypeError("name must be a nonempty string")
    return value


def _grace(value: Any) -> float | None:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
        raise TypeError("misfire_grace_time must be either None or a positive number of seconds")
    return value


def _instances(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise TypeError("max_instances must be a positive integer")
    return value


def _trigger(value: Any) -> Any:
    if not callable(getattr(value, "get_next_fire_time", None)) or isinstance(value, type):
        raise TypeError(f"Expected a trigger instance, got {type(value).__name__} instead")
    return value


def _executor(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("executor must be a string")
    if not 1 <= len(value) <= LONGEST_EXECUTOR:
        raise ValueError(f"executor must have 1–{LONGEST_EXECUTOR} characters")
    return value


def _timeout(value: Any) -> float | None:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
        raise TypeError("timeout must be either None or a positive number of seconds")
    return value


def _retries(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("retries must be an integer of 0 or more")
    return value


def _backoff(value: Any) -> float:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_BACKOFF:
        raise TypeError(f"backoff must be a number of seconds from 0 to {LONGEST_BACKOFF:g}")
    return float(value)


CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "name": _name,
    "misfire_grace_time": _grace,
    "coalesce": bool,
    "max_instances": _instances,
    "trigger": _trigger,
    "executor": _executor,
    "queue": bool,
    "timeout": _timeout,
    "retries": _retries,
    "backoff": _backoff,
}
