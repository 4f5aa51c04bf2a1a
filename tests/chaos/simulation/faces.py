"""The callers: people who start, stop and change things, are not always answered, and then ask again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.chaos.simulation.nodes import NAMESPACE, RULES
from tests.chaos.simulation.party import Party
from tests.chaos.simulation.programs import CALL
from tests.chaos.simulation.stores import Store
from tests.chaos.simulation.timeline import Timeline
from waterclock.chaos.checker import Answer
from waterclock.chaos.oracle import expression
from waterclock.domain.errors import NotAllowed, Unavailable, WaterclockError
from waterclock.domain.moment import MINUTE, Moment
from waterclock.domain.schedule import parse_schedule, to_json
from waterclock.domain.trigger import Action, Target, Trigger, TriggerSpec, TriggerState, TriggerType
from waterclock.stores.base import Tx
from waterclock.stores.ops import starting, stopping, triggers

PLACE: Final[dict[str, Any]] = {"org_id": 1, "namespace": NAMESPACE}
REMEMBERED: Final = 14 * MINUTE  # a call that is repeated later than that is another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A trigger as somebody wants it."""

    jobs: tuple[str, ...]
    every_seconds: int
    policy: str = "one"
    grace_seconds: float = 5.0
    cap: int = 3

    def spec(self) -> TriggerSpec:
        schedule = expression(self.every_seconds, 0)
        return TriggerSpec(
            type=TriggerType.SCHEDULED,
            actions=tuple(Action(target=Target.JOB, name=job) for job in self.jobs),
            expression=schedule,
            schedule=to_json(parse_schedule(schedule)),
            misfire={"policy": self.policy, "grace_seconds": self.grace_seconds, "cap": self.cap},
        )


@dataclass(slots=True, kw_only=True)
class Window:
    """From when until when a trigger was active, by the commits that made it so; `until` None: it still is."""

    plan: Plan
    since: Moment
    until: Moment | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """StartJobRun, and what its caller knows of it."""

    job: str
    made_at: Moment
    answer: Answer = Answer.UNKNOWN
    wire_id: str | None = None
    unanswered: int = 0  # copies of it that may still be done, or may have been


@dataclass(slots=True)
class Asked:
    """What was asked for, and what came of it: the oracle's side of the story."""

    windows: dict[str, list[Window]] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)


class Faces:
    """Each method begins one request in the name of a party of its own, which meets its faults."""

    def __init__(self, store: Store, timeline: Timeline, party: Callable[[], Party], bugs: list[str]) -> None:
        self.asked = Asked()
        self._store = store
        self._timeline = timeline
        self._party = party
        self._bugs = bugs

    def call(self, number: int, job: str) -> Party:
        """The same number again is the same call again."""
        name = f"call {number}"
        call = self.asked.calls.setdefault(name, Call(job=job, made_at=self._timeline.now))
        call.unanswered += 1
        request = starting.RunRequest(job_name=call.job, arguments={CALL: name})
        start = starting.StartCall(**PLACE, requested_by="ann", request=request, digest=name)
        return self._begin(lambda tx: starting.start_each(tx, calls=[start]), lambda found: self._told(call, found[0]))

    def may_repeat(self, number: int) -> bool:
        call = self.asked.calls.get(f"call {number}")
        return call is None or self._timeline.now - call.made_at < REMEMBERED

    def stop_run(self, wire_id: str) -> Party:
        return self._begin(
            lambda tx: stopping.stop_attempts(tx, org_id=1, job_name=None, wire_ids=[wire_id], rules=RULES)
        )

    def make_trigger(self, name: str, plan: Plan) -> Party:
        def made(trigger: Trigger) -> None:
            self.asked.windows[name] = [Window(plan=plan, since=self._timeline.now)]

        values: dict[str, Any] = {"owner": "ann", "spec": plan.spec(), "definition": {}, "tags": {}, "start": True}
        return self._begin(lambda tx: triggers.create_trigger(tx, **PLACE, name=name, **values), committed=made)

    def stop_trigger(self, name: str, *, stop_runs: bool) -> Party:
        def allow(trigger: Trigger) -> None:
            if trigger.state is not TriggerState.RUNNING:
                raise NotAllowed("it does not run")

        def stopped(trigger: Trigger) -> None:
            self._close(name)

        return self._begin(
            lambda tx: triggers.stop_trigger(tx, **PLACE, name=name, allow=allow, stop_runs=stop_runs, rules=RULES),
            committed=stopped,
        )

    def start_trigger(self, name: str) -> Party:
        def allow(trigger: Trigger) -> None:
            if trigger.state is TriggerState.RUNNING:
                raise NotAllowed("it runs already")

        def started(trigger: Trigger) -> None:
            plan = self.asked.windows[name][-1].plan
            self.asked.windows[name].append(Window(plan=plan, since=self._timeline.now))

        return self._begin(
            lambda tx: triggers.start_trigger(tx, **PLACE, name=name, allow=allow, rules=RULES), committed=started
        )

    def update_trigger(self, name: str, plan: Plan) -> Party:
        def updated(trigger: Trigger) -> None:
            was_running = self._close(name)
            now = self._timeline.now
            self.asked.windows[name].append(Window(plan=plan, since=now, until=None if was_running else now))

        return self._begin(
            lambda tx: triggers.update_trigger(
                tx, **PLACE, name=name, revise=lambda trigger: (plan.spec(), {}), allow=lambda trigger: None
            ),
            committed=updated,
        )

    def _close(self, name: str) -> bool:
        last = self.asked.windows[name][-1]
        was_open, last.until = last.until is None, last.until or self._timeline.now
        return was_open

    def _told(self, call: Call, found: str | WaterclockError) -> None:
        call.unanswered -= 1
        if call.wire_id not in (None, found):
            self._bugs.append(f"a call was answered with {call.wire_id} and then with {found!r}")
        if isinstance(found, str):
            call.answer, call.wire_id = Answer.ACKNOWLEDGED, found
        elif call.wire_id is None:
            call.answer = Answer.UNKNOWN if call.unanswered else Answer.REFUSED

    def _begin(
        self,
        operation: Callable[[Tx], Awaitable[Any]],
        told: Callable[[Any], None] = lambda found: None,
        committed: Callable[[Any], None] = lambda found: None,
    ) -> Party:
        party = self._party()
        party.begin(self._request(party, operation, told, committed))
        return party

    async def _request(
        self,
        party: Party,
        operation: Callable[[Tx], Awaitable[Any]],
        told: Callable[[Any], None],
        committed: Callable[[Any], None],
    ) -> None:
        async def done() -> Any:
            found = await self._store.do(operation)
            committed(found)
            return found

        await asyncio.sleep(0)  # until its faults are armed
        try:
            told(await party.through(done))
        except Unavailable:
            pass  # the caller does not know
        except WaterclockError:
            pass  # refused
        except Exception as bug:
            self._bugs.append(f"a call: {bug!r}")
