"""A host: a supervisor that outlives its workers, and the processes below it."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from tests.chaos.simulation.jobs import JOBS
from tests.chaos.simulation.party import Party
from tests.chaos.simulation.processes import Process, World
from waterclock import clock
from waterclock.runners.base import Begun, End, Ended, Event, Leases, Program
from waterclock.runners.codec import Order
from waterclock.runners.supervisor.attempts import Attempt, Attempts
from waterclock.runners.supervisor.renewer import Renewer


class Supervisor:
    """As the real one, with simulated processes for keepers; the renewer and the book of attempts are the real ones."""

    def __init__(self, name: str, party: Party, world: World, leases: Leases, ttl_seconds: float) -> None:
        self.name = name
        self.party = party
        self.renewer = Renewer(leases, ttl_seconds, self, self._to_renew)
        self._world = world
        self._ttl_seconds = ttl_seconds
        self.attempts = Attempts()
        self.processes: dict[int, Process] = {}
        self.guest: Line | None = None
        self.round: asyncio.Task[float] | None = None  # the last one

    # What its worker asks

    def start(self, orders: Sequence[Order]) -> None:
        for order in orders:
            program = order.program
            known = self.attempts.get(program.attempt_id)
            if known is not None:
                self._refuse_again(known, program.fence)
                continue
            attempt = Attempt(
                attempt_id=program.attempt_id,
                fence=program.fence,
                token=[],
                lease_until=order.lease_until,
                order=order,
            )
            self.attempts.add(attempt)
            wait = JOBS[program.env["job"]].behaviour.starting_seconds
            asyncio.get_running_loop().call_later(wait, self._hand_out, attempt)

    def stop(self, attempt_ids: Sequence[int]) -> None:
        for attempt in map(self.attempts.get, attempt_ids):
            if attempt is None or not attempt.is_alive:
                continue
            if attempt.order is not None:
                self._ended(attempt.end(End.STOPPED, "stopped before it was started"))
            else:
                process = self.processes[attempt.attempt_id]
                process.ending.stops(End.STOPPED, clock.monotonic())
                process.act()

    def welcome(self, line: "Line") -> None:
        self.guest = line
        line.tell(self.attempts.ended())

    async def tick(self) -> float:
        """Renew; tell again what was not forgotten; lose what waits for a keeper past its lease."""
        for attempt in self.attempts.alive():
            if attempt.order is not None and clock.monotonic() >= attempt.lease_until:
                self.lose(attempt)
        if self.guest:
            before = clock.monotonic() - self._ttl_seconds / 3
            late = [each for each in self.attempts if each.ended and each.told_at < before]
            for attempt in late:
                attempt.told_at = clock.monotonic()
            self.guest.tell([each.ended for each in late if each.ended])
        await self.renewer.tick()
        return 0.0

    # `Holder`

    def lease_is(self, attempt: Attempt, until: float) -> None:
        attempt.lease_until = until
        if process := self.processes.get(attempt.attempt_id):
            process.ending.lease_until = until
            process.act()

    def lose(self, attempt: Attempt) -> None:
        attempt.is_refused = True
        if not attempt.is_alive:
            return
        if attempt.order is not None:
            self._ended(attempt.end(End.LEASE_LOST, "its lease was lost before it was started"))
        else:
            process = self.processes[attempt.attempt_id]
            process.ending.kills(End.LEASE_LOST)
            process.act()

    # What becomes of it

    def inherit(self, book: Attempts) -> None:
        """Of a supervisor that is dead: its processes went with it, what it had written down is told."""
        for attempt in book:
            if attempt.ended is None:
                attempt.ended, attempt.order = attempt.end(End.LOST, "the supervisor died"), None
            self.attempts.add(attempt)

    def fall(self) -> None:
        """All that runs here is gone at once."""
        self.party.die()
        for process in self.processes.values():
            process.vanish()

    def _to_renew(self) -> list[Attempt]:
        is_heard = self.guest is not None and self.guest.is_heard(self._ttl_seconds / 2)
        return [attempt for attempt in self.attempts if not attempt.is_refused] if is_heard else []

    def _refuse_again(self, known: Attempt, fence: int) -> None:
        if known.fence != fence:
            message = f"attempt {known.attempt_id} was already given to this host"
            ended = Ended(attempt_id=known.attempt_id, fence=fence, end=End.NOT_STARTED, message=message)
            self._tell([ended])
        elif known.ended is not None:
            self._tell([known.ended])

    def _hand_out(self, attempt: Attempt) -> None:
        if attempt.order is None or self.party.is_dead:
            return
        order, attempt.order = attempt.order, None
        process = Process(order.program, attempt.lease_until, self._world, self.name)
        self.processes[attempt.attempt_id] = process
        if process.begin(self._ended):
            number = attempt.attempt_id
            attempt.begun = Begun(attempt_id=number, fence=attempt.fence, pid=number, pid_started_at=number)
            self._tell([attempt.begun])

    def _ended(self, ended: Ended) -> None:
        attempt = self.attempts.get(ended.attempt_id)
        assert attempt is not None, "what lives is never out of sight"
        self.processes.pop(ended.attempt_id, None)
        attempt.ended, attempt.order, attempt.told_at = ended, None, clock.monotonic()
        self._tell([ended])

    def _tell(self, events: Sequence[Event]) -> None:
        if self.guest:
            self.guest.tell(events)


class Line:
    """A worker's connection to the supervisor of its host: the `Runner` of that worker."""

    def __init__(self, supervisor: Supervisor, party: Party) -> None:
        self.supervisor = supervisor
        self._party = party
        self._news: asyncio.Queue[Sequence[Event]] = asyncio.Queue()

    def connect(self, supervisor: Supervisor) -> None:
        """Anew, when the one before has died."""
        self.supervisor = supervisor
        supervisor.welcome(self)

    def is_heard(self, within_seconds: float) -> bool:
        """Whether it gave a sign of life so lately: it does, until it is paused or dies."""
        return not self._party.is_dead and self._party.paused_seconds < within_seconds

    def tell(self, events: Sequence[Event]) -> None:
        if events:
            self._news.put_nowait(events)

    async def start(self, programs: Sequence[Program]) -> None:
        await self._party.through(lambda: self._start(programs))

    async def _start(self, programs: Sequence[Program]) -> None:
        self.supervisor.start([Order(program=each, lease_until=each.lease_until) for each in programs])

    async def stop(self, attempt_ids: Sequence[int]) -> None:
        await self._party.awake()
        self.supervisor.stop(attempt_ids)

    async def held(self) -> Sequence[Begun]:
        await self._party.awake()
        return [attempt.presence() for attempt in self.supervisor.attempts]

    async def forget(self, attempt_ids: Sequence[int]) -> None:
        await self._party.awake()
        self.supervisor.attempts.forget(attempt_ids)

    async def events(self) -> AsyncIterator[Sequence[Event]]:
        while True:
            batch = await self._news.get()
            await self._party.awake()
            yield batch
