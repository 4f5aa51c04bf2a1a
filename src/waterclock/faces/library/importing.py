"""A job of APScheduler 3.x, as its pickle holds it, becomes what a store of ours keeps: all of it, or a reason why not.

The first half runs in a process of its own (`unpickling`), where there are objects; what leaves it is JSON, which the
second half makes a job of. The function is never imported: it may start the very program that is being moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from waterclock.domain.library import LibraryJob
from waterclock.domain.moment import Moment, to_datetime
from waterclock.faces.library.importing_check import difference
from waterclock.faces.library.importing_timing import timing_of
from waterclock.faces.library.importing_triggers import CannotCarry, made, steady
from waterclock.faces.library.keeping import Declared, TextKeeper
from waterclock.faces.library.serializers import PICKLED, JsonSerializer, serializer_for
from waterclock.triggers import codec
from waterclock.triggers.base import ScheduleTrigger

VERSION: Final = 1
WORDS: Final = ("id", "func", "name", "executor")
NUMBERS: Final = ("misfire_grace_time", "max_instances")
STATE: Final = (*WORDS, *NUMBERS, "trigger", "args", "kwargs", "coalesce")
BEYOND: Final = ("queue", "timeout", "retries", "backoff")
LONGEST_GRACE: Final = 10_000 * 86_400
MOST_INSTANCES: Final = 1_000_000
THEIR_GRACE: Final = 1
GRACE: Final = (
    "misfire_grace_time is 1 second, APScheduler's default: a run that begins later than that is missed;"
    " where it should not be, give the job more with modify_job"
)
LATE: Final = "its next run time has passed: its misfire_grace_time decides whether that run still takes place"
BY_PICKLE: Final = 'its arguments are pickled: only a job store with serializer="pickle" can load it'

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One row: what it is called, and when it runs next."""

    id: str
    next_at: Moment | None  # None: it is paused


def carried(found: Found, state: object, *, now: Moment, serializer: str) -> Json:
    """What is to be kept of it, as JSON; CannotCarry with the reason why it has to stay."""
    told = _checked(found, state)
    timing = timing_of(told["trigger"], found.next_at)
    plain, trigger = made(steady(timing.theirs)), made(timing.theirs, _seed(found.id))
    if parted := difference(steady(timing.theirs), plain, timing.next_at, now):
        raise CannotCarry(parted)
    arguments = _kept_arguments(tuple(told["args"]), dict(told["kwargs"]), serializer)
    return {
        **{name: told[name] for name in (*WORDS, *NUMBERS)},
        "coalesce": bool(told["coalesce"]),
        "trigger": codec.to_json(trigger),
        "next_at": _next_at(timing.next_at, plain, trigger),
        "arguments": arguments,
        "notes": _notes(told, arguments, late=found.next_at is not None and found.next_at < now),
    }


def library_job(job: Json, namespace: str, *, beyond: Json | None = None) -> LibraryJob:
    """From what `carried` said; InvalidInput or ValueError for what no store of ours takes.

    `beyond` is what of it APScheduler does not know, where it is here already.
    """
    next_at = job["next_at"]
    declared = Declared(
        **{name: job[name] for name in ("id", "name", "executor", *NUMBERS, "coalesce")},
        func=None,
        func_ref=job["func"],
        trigger=codec.from_json(job["trigger"]),
        next_run_time=None if next_at is None else to_datetime(next_at),
        **(beyond or {}),
    )
    return TextKeeper(_Kept(job["arguments"])).kept(declared, namespace)


class _Kept(JsonSerializer):
    """Arguments that the other process has written already."""

    def __init__(self, arguments: Json) -> None:
        self._arguments = arguments

    def dump(self, args: object, kwargs: object) -> Json:
        return self._arguments


def _checked(found: Found, state: object) -> dict[str, Any]:
    if not isinstance(state, dict):
        raise CannotCarry(f"it holds no job of APScheduler 3 but {type(state).__name__}")
    if (version := state.get("version", VERSION)) != VERSION:
        raise CannotCarry(f"its state is of version {version!r}; APScheduler 3 writes version {VERSION}")
    if missing := [name for name in STATE if name not in state]:
        raise CannotCarry(f"its state has no {', no '.join(missing)}")
    if wrong := [name for name, fits in FITS.items() if not fits(state[name])]:
        raise CannotCarry("; ".join(f"{name} is {state[name]!r:.80}" for name in wrong))
    if state["id"] != found.id:
        raise CannotCarry(f"its state is that of the job {state['id']!r}")
    return state


def _next_at(nominal: Moment | None, plain: ScheduleTrigger, trigger: ScheduleTrigger) -> Moment | None:
    """One that their jitter may have put off is put off by ours instead: the same run, and no second one after it."""
    if nominal is None or plain.schedule.last_at_or_before_us(nominal) != nominal:
        return nominal
    return trigger.schedule.next_after_us(nominal - 1)


def _seed(name: str) -> str:
    """The same at each import."""
    return blake2b(name.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _kept_arguments(args: tuple[Any, ...], kwargs: dict[str, Any], serializer: str) -> Json:
    """As JSON wherever that can hold them."""
    try:
        return JsonSerializer().dump(args, kwargs)
    except TypeError as problem:
        if serializer != PICKLED:
            raise CannotCarry(f"{problem}, and import it with --serializer pickle") from problem
    try:
        return serializer_for(serializer).dump(args, kwargs)
    except TypeError as problem:
        raise CannotCarry(str(problem)) from problem


def _notes(told: Json, arguments: Json, *, late: bool) -> list[str]:
    notes = {
        GRACE: told["misfire_grace_time"] == THEIR_GRACE,
        LATE: late,
        BY_PICKLE: PICKLED in arguments,
    }
    return [note for note, holds in notes.items() if holds]


def _is_text(value: object) -> bool:
    """One that every database takes."""
    try:
        return isinstance(value, str) and value != "" and b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most


FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(WORDS, _is_text),
    "func": lambda value: _is_text(value) and all(value.partition(":")),
    "misfire_grace_time": lambda value: value is None or _is_count(value, LONGEST_GRACE),
    "max_instances": lambda value: _is_count(value, MOST_INSTANCES),
    "coalesce": lambda value: isinstance(value, bool | int),
    "args": lambda value: isinstance(value, list | tuple | set | frozenset),
    "kwargs": lambda value: isinstance(value, Mapping) and all(isinstance(name, str) for name in value),
}
