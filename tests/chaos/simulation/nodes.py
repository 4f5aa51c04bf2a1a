"""The nodes: the engine's own duties, ticked one by one, for as long as their process lives."""

import asyncio
from typing import Any, Final, Protocol

from tests.chaos.simulation.hosts import Line, Supervisor
from tests.chaos.simulation.party import Party
from tests.chaos.simulation.programs import Preparing
from tests.chaos.simulation.stores import Reached
from waterclock.domain.claim import Claimant
from waterclock.domain.errors import Unavailable
from waterclock.domain.trigger import FireRules
from waterclock.engine.attempt import Attempts
from waterclock.engine.dispatcher import Dispatcher
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.loop import Duty
from waterclock.engine.membership import StoreMembership
from waterclock.engine.rescuer import Rescuer
from waterclock.engine.stopper import Stopper
from waterclock.engine.ticker import Ticker
from waterclock.engine.turns import Turns
from waterclock.engine.work import StoreWork
from waterclock.stores.ops.nodes import Node as NodeRecord

TTL_SECONDS: Final = 3.0
MARGIN_SECONDS: Final = 1.0
SLOTS: Final = 4
NAMESPACE: Final = "glue"
RULES: Final = {NAMESPACE: FireRules()}


class Ticked(Protocol):
    async def tick(self) -> Any: ...


class Node:
    """One life of a process. A round that hangs is not begun again beside itself, as in the engine's loop."""

    def __init__(self, party: Party, bugs: list[str]) -> None:
        self.party = party
        self.duties: dict[str, Ticked] = {}
        self._rounds: dict[str, asyncio.Task[Any]] = {}
        self._bugs = bugs

    def tick(self, duty: str) -> None:
        last = self._rounds.get(duty)
        if self.party.is_up and duty in self.duties and (last is None or last.done()):
            self._rounds[duty] = self.party.begin(self._round(duty, self.duties[duty]))

    async def _round(self, name: str, duty: Ticked) -> None:
        try:
            await duty.tick()
        except Unavailable:
            pass  # logged, and tried again
        except Exception as bug:
            self._bugs.append(f"{name}: {bug!r}")


class SchedulerNode(Node):
    def __init__(self, party: Party, database: Reached, bugs: list[str]) -> None:
        super().__init__(party, bugs)
        self.duties = {
            "ticker": Ticker(database, RULES),
            "rescuer": Rescuer(database, margin_seconds=MARGIN_SECONDS, every_seconds=1, rules=RULES),
            "heartbeat": Heartbeat(StoreMembership(database), _record(party, "scheduler"), every_seconds=1),
        }


class WorkerNode(Node):
    def __init__(self, party: Party, database: Reached, supervisor: Supervisor, bugs: list[str]) -> None:
        super().__init__(party, bugs)
        work = StoreWork(database, RULES)
        claimant = Claimant(node=party.name, host=supervisor.name)
        self.line = Line(supervisor, party)
        self.attempts = Attempts(
            work, claimant, Preparing(), {"": self.line}, ttl_seconds=TTL_SECONDS, freed=lambda: None
        )
        dispatcher: Duty = Dispatcher(
            work,
            self.attempts,
            claimant,
            queues=("default",),
            slots=SLOTS,
            callables=False,
            ttl_seconds=TTL_SECONDS,
            turns=Turns(alive_seconds=TTL_SECONDS),
        )
        record = _record(party, "worker", slots=SLOTS)
        self._ready = {
            "dispatcher": dispatcher,
            "recorder": self.attempts.recorder,
            "stopper": Stopper(work, self.attempts, party.name),
            "heartbeat": Heartbeat(StoreMembership(database), record, every_seconds=1, renew=self.attempts.renew),
        }

    async def open(self) -> None:
        """As `Node.start`: the recorder first, the other duties once what the host holds has been adopted."""
        self.duties = {"recorder": self._ready["recorder"]}
        self.line.connect(self.line.supervisor)
        try:
            await self.attempts.open()
        except Unavailable:
            self.party.die()  # its parent starts another
            return
        self.duties = dict(self._ready)

    async def leave(self) -> None:
        """As by TERM: what was only prepared goes back, and what is known is written."""
        self.duties = {"recorder": self._ready["recorder"]}
        try:
            await self.attempts.close()
            if not self.attempts.recorder.idle:
                await self.attempts.recorder.tick()
        except Unavailable:
            pass
        self.party.die()


def _record(party: Party, duty: str, slots: int = 0) -> NodeRecord:
    name = party.name
    return NodeRecord(id=name, host=name, name=name, duties=(duty,), slots=slots, version="1", pid=1)
