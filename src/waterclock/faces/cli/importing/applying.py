"""Carries a plan out, one thing after another: what fails is told and does not hold up the rest.

It may be stopped anywhere and run again: each thing is made by one call, and what is there already is not made twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from waterclock.faces.cli.importing.calls import CALLS, FIXED, change, creation, naming
from waterclock.faces.cli.importing.endpoint import Denied, Endpoint
from waterclock.faces.cli.importing.plan import Plan, Step, Verdict, differences
from waterclock.faces.cli.importing.thing import Thing, thing

T = TypeVar("T")


class Done(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    SAME = "same"
    LEFT = "left as it is"  # it differs, and nobody asked to change it
    LEFT_OUT = "left out"
    STARTED = "started"
    FAILED = "failed"


AS_WANTED: Final = (Done.CREATED, Done.UPDATED, Done.SAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    thing: Thing
    done: Done
    why: str | None = None


class Applying:
    def __init__(self, target: Endpoint, *, update: bool = False, start: bool = False) -> None:
        self._target = target
        self._update = update
        self._start = start

    def carry_out(self, plan: Plan) -> Iterator[Result]:
        """What was done, as it is done."""
        starting = []
        for step in plan.steps:
            result = _tried(self._take, step, step.thing)
            if self._start and step.starts and result.done in AS_WANTED:
                starting.append(step.thing)
            yield result
        # Last of all: what fires must find everything that it starts.
        for trigger in starting:
            yield _tried(self._started, trigger, trigger)

    def _take(self, step: Step) -> Result:
        match step.verdict:
            case Verdict.CREATE:
                return self._created(step.thing)
            case Verdict.DIFFERS if self._update:
                return self._updated(step)
            case Verdict.DIFFERS:
                return Result(thing=step.thing, done=Done.LEFT, why=f"differs in {', '.join(step.differs)}")
            case Verdict.SAME:
                return Result(thing=step.thing, done=Done.SAME)
        return Result(thing=step.thing, done=Done.LEFT_OUT, why=step.reason)

    def _created(self, wanted: Thing) -> Result:
        try:
            self._target.call(CALLS[wanted.kind].create, **creation(wanted))
        except Denied as refused:
            if refused.code != "AlreadyExistsException":
                raise
            return self._compared(wanted, Done.CREATED)  # an answer was lost, or somebody else made it meanwhile
        return Result(thing=wanted, done=Done.CREATED)

    def _updated(self, step: Step) -> Result:
        wanted = step.thing
        if fixed := [name for name in FIXED if name in step.differs]:
            why = f"{' and '.join(fixed)} cannot be changed: delete the {wanted.kind} here first"
            return Result(thing=wanted, done=Done.FAILED, why=why)
        if step.differs != ("Tags",):
            self._target.call(CALLS[wanted.kind].update, **change(wanted))
        if "Tags" in step.differs:
            self._retag(wanted)
        return self._compared(wanted, Done.UPDATED)

    def _retag(self, wanted: Thing) -> None:
        arn, tags, here = self._target.arn(wanted), wanted.tags or {}, self._target.tagged(wanted).tags or {}
        if changed := {name: value for name, value in tags.items() if here.get(name) != value}:
            self._target.call("tag_resource", ResourceArn=arn, TagsToAdd=changed)
        if gone := sorted(here.keys() - tags.keys()):
            self._target.call("untag_resource", ResourceArn=arn, TagsToRemove=gone)

    def _compared(self, wanted: Thing, done: Done) -> Result:
        """With what is there now: nothing is called done that is not."""
        calls = CALLS[wanted.kind]
        found = thing(wanted.kind, self._target.call(calls.get, **naming(wanted))[calls.shown])
        here = found if wanted.tags is None else self._target.tagged(found)
        if differs := differences(wanted, here):
            return Result(thing=wanted, done=Done.FAILED, why=f"is here, but differs in {', '.join(differs)}")
        return Result(thing=wanted, done=done)

    def _started(self, trigger: Thing) -> Result:
        self._target.call("start_trigger", Name=trigger.name)
        return Result(thing=trigger, done=Done.STARTED)


def _tried(doing: Callable[[T], Result], what: T, thing: Thing) -> Result:
    try:
        return doing(what)
    except Denied as refused:
        return Result(thing=thing, done=Done.FAILED, why=refused.format_message())
