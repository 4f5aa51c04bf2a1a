"""The attempts in flight on this worker: prepared, handed to a runner, followed to their end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from waterclock import clock
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.errors import CannotRun, Unavailable
from waterclock.domain.job import CALLABLE
from waterclock.domain.lake import PROGRAMS as LAKE
from waterclock.domain.log_name import log_name
from waterclock.domain.outcome import WORKER_LOST, Beginning, Outcome
from waterclock.domain.placement import asked_mb
from waterclock.domain.progress import Report
from waterclock.domain.run import RunState
from waterclock.engine import flight as flights
from waterclock.engine.flight import Flight, Preparation
from waterclock.engine.recorder import Recorder
from waterclock.engine.work import Work
from waterclock.runners.base import Begun, Ended, Program, Runner

log: Final = logging.getLogger("waterclock.engine")

AGAIN_SECONDS: Final = 0.5  # until the store is asked again for what a program needs


class Attempts:
    """Every claimed attempt is here until its end is durable."""

    def __init__(
        self,
        work: Work,
        claimant: Claimant,
        preparation: Preparation,
        runners: Mapping[str, Runner],
        *,
        ttl_seconds: float,
        freed: Callable[[], None],
        ships_logs: bool = False,
        urgent: Callable[[], bool] = lambda: False,
    ) -> None:
        self.recorder = Recorder(work, stored=self._forget, lost=self._let_go, urgent=urgent)
        self._work = work
        self._claimant = claimant
        self._preparation = preparation
        self._runners = runners  # by kind; "" for every other
        self._ttl_seconds = ttl_seconds
        self._freed = freed
        self._ships_logs = ships_logs  # then whoever reads them finds them in the log store
        self._flights: dict[int, Flight] = {}
        self._doubtful: dict[int, Flight] = {}  # may have been started: nobody may start them again
        self._pumps: list[asyncio.Task[None]] = []
        self._tidying: set[asyncio.Future[None]] = set()
        self.reporting: Callable[[], None] = lambda: None  # called when a program starts that reports

    # Life

    async def open(self) -> None:
        """Adopt what this host ran before, clear away what is left of all else, then listen to the runners."""
        await self._adopt()
        self._later(asyncio.to_thread(self._preparation.set_aside(self.known())))
        self._pumps = [asyncio.create_task(self._pump(runner)) for runner in set(self._runners.values())]

    async def close(self) -> None:
        """What is being prepared goes back; programs go on under their supervisor, for adoption; callables end here."""
        self._end_callables()
        going_back = [attempt_id for attempt_id, flight in self._flights.items() if not flight.started]
        for attempt_id in going_back:
            if task := self._flights[attempt_id].preparing:
                task.cancel()
        await self.give_back(going_back)
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, *self._tidying, return_exceptions=True)

    def _end_callables(self) -> None:
        running = [flight for flight in self._flights.values() if flight.started]
        programs = sum(flight.claimed.spec.kind != CALLABLE for flight in running)
        if programs:
            log.info("%d program(s) go on: a worker that starts here before their leases end adopts them", programs)
        for flight in running:
            if flight.claimed.spec.kind == CALLABLE:
                self._fail(flight.claimed, CannotRun("the worker was stopped while it ran"))

    def count(self, *, callables: bool) -> int:
        return sum((flight.claimed.spec.kind == CALLABLE) == callables for flight in self._flights.values())

    def total(self) -> int:
        return len(self._flights)

    def memory_mb(self) -> int:
        """What its programs asked for."""
        specs = (flight.claimed.spec for flight in self._flights.values())
        return sum(asked_mb(spec.limits) for spec in specs if spec.kind != CALLABLE)

    def known(self) -> frozenset[int]:
        """Every attempt that was handed to us, and may be running."""
        return frozenset(self._flights) | frozenset(self._doubtful)

    def reports(self) -> Callable[[], list[Report]] | None:
        """How far those have come that run and report; to be called in a thread. None where there are none."""
        running = [each for each in self._flights.values() if each.started and each.claimed.spec.kind in LAKE]
        return (lambda: [flights.report_of(self._preparation, each) for each in running]) if running else None

    # Starting

    async def launch(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        """`asked_at`: the monotonic moment before the claim was sent, from which its lease surely holds."""
        ready: list[Program] = []
        for each in claimed:
            flight = self._flights[each.attempt.id] = Flight(each, asked_at + self._ttl_seconds)
            try:
                program = self._preparation.at_once(each)
                if program is not None:
                    ready.append(self._bound(flight, program))
            except Exception as problem:  # the end of this attempt alone
                self._fail(each, problem)
                continue
            if program is None:
                flight.preparing = asyncio.create_task(self._prepare(flight))
        await self._start(ready)

    def started(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        """Somebody else has handed them to their runner, which has told nobody of them yet."""
        for each in claimed:
            self._flights[each.attempt.id] = Flight(each, asked_at + self._ttl_seconds, started=True)

    async def _prepare(self, flight: Flight) -> None:
        """The boundary: whatever goes wrong while a program is prepared is the end of this attempt alone."""
        try:
            while (program := await flights.prepared(self._preparation, flight)) is None:
                await asyncio.sleep(AGAIN_SECONDS)
            await self._start([self._bound(flight, program)])
        except asyncio.CancelledError:
            raise
        except Exception as problem:
            if flight.claimed.attempt.id not in self._doubtful:  # else it may run, and its lease will tell
                self._fail(flight.claimed, problem)
        finally:
            flight.preparing = None

    def _bound(self, flight: Flight, program: Program) -> Program:
        flight.log_path = program.log_path or None
        if flight.claimed.spec.kind == CALLABLE:  # this process renews its lease itself, and nobody else looks at it
            if clock.monotonic() >= flight.leased_until:
                raise CannotRun("its lease ran out before it could start")
            flight.started = True
            return program
        flight.started = True
        if flight.claimed.spec.kind in LAKE:
            self.reporting()
        return replace(program, lease_until=flight.leased_until)

    async def _start(self, programs: Sequence[Program]) -> None:
        by_runner: dict[Runner, list[Program]] = {}
        if len(set(self._runners.values())) == 1:
            by_runner[self._runners[""]] = list(programs)
        else:
            for program in programs:
                by_runner.setdefault(self._runner_of(program.attempt_id), []).append(program)
        for runner, batch in by_runner.items():
            try:
                await runner.start(batch)
            except Unavailable:
                # Whether it has them is unknown: their leases will tell, and nobody decides them before.
                for program in batch:
                    if flight := self._flights.pop(program.attempt_id, None):
                        self._doubtful[program.attempt_id] = flight
                raise

    def _fail(self, claimed: Claimed, problem: Exception) -> None:
        if not isinstance(problem, CannotRun):
            log.error("cannot prepare %s", claimed.attempt.wire_id, exc_info=problem)
        attempt = claimed.attempt
        message = str(problem) if isinstance(problem, CannotRun) else f"{type(problem).__name__}: {problem}"
        self.recorder.ended(
            Outcome(
                attempt_id=attempt.id,
                fence=attempt.fence,
                state=RunState.FAILED,
                message=message,
                verdict=flights.verdict_on(claimed, problem),
                lone=claimed.lone,
            )
        )

    # Stopping

    async def give_back(self, attempt_ids: Collection[int]) -> None:
        """For others to run: a runner that closes has not begun them, and never will."""
        by_node: dict[str, list[int]] = {}
        for attempt_id in attempt_ids:
            if flight := self._flights.get(attempt_id):
                by_node.setdefault(flight.claimed.attempt.node or self._claimant.node, []).append(attempt_id)
        await self._unbundle(attempt_ids)
        for node, ours in by_node.items():
            await self._work.release(node, ours)
            for attempt_id in ours:
                self._flights.pop(attempt_id, None)

    async def stop(self, attempt_ids: Sequence[int]) -> None:
        """The proof is the end that follows; one that was only being prepared never starts."""
        for attempt_id in attempt_ids:
            flight = self._flight(attempt_id)
            if flight is None:
                continue
            if flight.started:
                await self._runner_of(attempt_id).stop([attempt_id])
                continue
            if flight.preparing:
                flight.preparing.cancel()
            self.recorder.ended(
                Outcome(
                    attempt_id=attempt_id,
                    fence=flight.claimed.attempt.fence,
                    state=RunState.STOPPED,
                    message="stopped before it started",
                    lone=flight.claimed.lone,
                )
            )

    # Leases of what no supervisor holds: callables, and what is being prepared

    async def renew(self) -> None:
        held = {
            attempt_id: flight.claimed.attempt.fence
            for attempt_id, flight in self._flights.items()
            if not flight.started or flight.claimed.spec.kind == CALLABLE
        }
        if not held:
            return
        await self._unbundle(held)
        asked_at = clock.monotonic()
        ours = await self._work.renew(list(held.items()), self._ttl_seconds)
        for attempt_id in held:
            flight = self._flights.get(attempt_id)
            if flight and attempt_id in ours:
                flight.leased_until = asked_at + self._ttl_seconds
            elif flight:
                await self.stop([attempt_id])

    async def _unbundle(self, attempt_ids: Collection[int]) -> None:
        flights = [flight for each in attempt_ids if (flight := self._flights.get(each))]
        await self._work.unbundle([flight.claimed.lone for flight in flights if flight.claimed.lone])

    # Following

    async def _pump(self, runner: Runner) -> None:
        async for batch in runner.events():
            for event in batch:
                try:
                    if isinstance(event, Outcome):
                        self.recorder.ended(event)
                    elif isinstance(event, Begun):
                        self._begun(event)
                    else:
                        self._ended(event)
                except Exception:  # one event must not end the listening: an end is told again until it is stored
                    log.exception("cannot take %s", event)

    def _begun(self, event: Begun) -> None:
        flight = self._flight(event.attempt_id)
        self.recorder.begun(
            Beginning(
                attempt_id=event.attempt_id,
                fence=event.fence,
                pid=event.pid,
                pid_started_at=event.pid_started_at,
                log_path=self._log_place(flight) if flight else None,
                run_at=flight.claimed.attempt.run_at if flight else None,
            ),
            flight.claimed.lone if flight else None,
        )

    def _log_place(self, flight: Flight) -> str | None:
        """Where a reader finds its log: a file of this host, or a name in the log store."""
        attempt = flight.claimed.attempt
        if not self._ships_logs or flight.log_path is None:
            return flight.log_path
        return attempt.log_path or log_name(attempt.wire_id, attempt.run_at)

    def _ended(self, event: Ended) -> None:
        self.recorder.ended(flights.outcome(self._preparation, event, self._flight(event.attempt_id)))

    def _flight(self, attempt_id: int) -> Flight | None:
        return self._flights.get(attempt_id) or self._doubtful.get(attempt_id)

    async def _adopt(self) -> None:
        """What the supervisor still knows goes on; what it does not know is lost, and never started again by us."""
        held = {begun.attempt_id: begun for runner in set(self._runners.values()) for begun in await runner.held()}
        asked_at = clock.monotonic()
        for claimed in await self._work.adopt(self._claimant, ttl_seconds=self._ttl_seconds):
            attempt, begun = claimed.attempt, held.get(claimed.attempt.id)
            flight = self._flights[attempt.id] = Flight(claimed, asked_at + self._ttl_seconds, started=True)
            if begun is not None and begun.fence == attempt.fence:
                flight.log_path = _local(attempt.log_path) or self._preparation.log_path(attempt)
                flight.masks = await flights.masks_again(self._preparation, claimed)
                if begun.pid:  # else it never became a process, and its end says so
                    self._begun(begun)
                continue
            stopping = attempt.state is RunState.STOPPING
            state = RunState.STOPPED if stopping else RunState.FAILED
            self.recorder.ended(Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state, message=WORKER_LOST))
        if self._flights:
            log.info("adopted %d attempt(s) of an earlier worker on this host", len(self._flights))

    # Letting go

    async def _forget(self, attempt_ids: Collection[int]) -> None:
        flights = {attempt_id: self._flights.pop(attempt_id, None) for attempt_id in attempt_ids}
        for attempt_id in attempt_ids:
            self._doubtful.pop(attempt_id, None)
        self._freed()
        programs = [number for number, flight in flights.items() if not flight or flight.claimed.spec.kind != CALLABLE]
        if programs:
            self._later(asyncio.to_thread(self._preparation.clean_up, programs))
        for runner in set(self._runners.values()):  # nobody waits for it: an end that is told again is forgotten again
            self._later(runner.forget(list(attempt_ids)))

    def _later(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tidying.add(task)
        task.add_done_callback(self._tidied)

    def _tidied(self, task: asyncio.Future[None]) -> None:
        self._tidying.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            log.warning("cannot tidy up after a run: %s", problem)

    async def _let_go(self, attempt_ids: Collection[int]) -> None:
        """Somebody else decided them: whatever we run of them must die."""
        log.warning("%d attempt(s) are not ours any more: stopping them", len(attempt_ids))
        for runner in set(self._runners.values()):
            await runner.stop(list(attempt_ids))

    def _runner_of(self, attempt_id: int) -> Runner:
        flight = self._flight(attempt_id)
        kind = flight.claimed.spec.kind if flight else ""
        return self._runners.get(kind, self._runners[""])


def _local(log_path: str | None) -> str | None:
    """A file of this host; a name in the log store is none."""
    return log_path if log_path is not None and log_path.startswith("/") else None
