"""The executors of a host: enough of them at hand, each given what suits it, and dead where that was asked for."""

import selectors
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from waterclock import clock
from waterclock.runners import wire
from waterclock.runners.lake import order as orders
from waterclock.runners.sql import executor, forks
from waterclock.runners.sql.caller import Caller, CallerState
from waterclock.runners.sql.engine import Engine
from waterclock.runners.sql.forks import Fork, ForkState
from waterclock.runners.sql.peer import Peer
from waterclock.runners.sql.query import OutputsOf, sweep
from waterclock.runners.sql.sweepers import Sweepers

MIB: Final = 1024 * 1024
DEAD: Final[wire.Message] = {"dead": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """For how long the host waits with what."""

    linger_seconds: float = 5.0  # without a line, before it goes
    surplus_seconds: float = 30.0  # that an executor beyond those that should wait may be idle
    quiet_seconds: float = 1.0  # after an order, before spare executors are made: they would take the query's time
    fresh_seconds: float = 300.0  # that a session may wait for its query: engines forget those that are idle for long
    cancel_seconds: float = 8.0  # that an engine has to end a query which we cannot kill


class Crew:
    """`waiting` are the callers that need an executor; whatever happens to a query is told to its caller."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        engine: Engine,
        outputs_of: OutputsOf,
        waiting: Callable[[], Sequence[Caller]],
        *,
        warm: int,
        patience: Patience,
    ) -> None:
        self._selector = selector
        self._engine = engine
        self._outputs_of = outputs_of
        self._waiting = waiting
        self._warm = warm
        self._patience = patience
        self._forks: list[Fork] = []
        self._sweepers = Sweepers(selector)
        self._ordered_at = clock.monotonic()
        self._is_broken = False  # an executor could not open its engine: none is made before the next order

    @property
    def has_work(self) -> bool:
        return bool(self._sweepers) or any(fork.caller for fork in self._forks)

    @property
    def peers(self) -> list[Peer]:
        return [fork.peer for fork in self._forks]

    def hear_order(self) -> None:
        self._is_broken = False
        self._ordered_at = clock.monotonic()

    def work(self) -> None:
        """Whoever waits is given an executor that suits; one that has served its party before goes first."""
        for caller in self._waiting():
            suitable = [fork for fork in self._forks if fork.suits(caller.party)]
            if suitable:
                max(suitable, key=lambda fork: (fork.party is not None, fork.idle_at)).give(caller)
                caller.state = CallerState.RUNNING
        self._provide()

    def end_query(self, caller: Caller) -> None:
        """Nothing of it is left when the caller hears that it is dead."""
        fork = caller.fork
        if caller.state is CallerState.WAITING:
            caller.tell_end(DEAD)
        elif caller.state is CallerState.RUNNING and fork is not None:
            caller.state = CallerState.ENDING
            if self._engine.dies_with_its_process:
                self._kill(fork, DEAD)
            else:
                fork.cancel(clock.monotonic() + self._patience.cancel_seconds)

    def tick(self) -> None:
        now = clock.monotonic()
        for fork in list(self._forks):
            if fork.state is ForkState.CANCELLING and now < fork.kill_at:
                fork.cancel(fork.kill_at)
            elif fork.state is ForkState.CANCELLING:
                self._kill(fork, DEAD)
            elif self._engine.dies_with_its_process and (most := fork.exceeds()):
                why = f"the query took more memory than the job may have: {most // MIB} MiB with its engine"
                self._kill(fork, {"failed": why, "text": ""})
        idle = sorted((fork for fork in self._forks if fork.state is ForkState.IDLE), key=lambda fork: fork.idle_at)
        for fork in idle[: max(0, len(idle) - self._warm)]:
            if now - fork.idle_at > self._patience.surplus_seconds:
                self._kill(fork)
        self._sweepers.tick(now)

    def close(self) -> None:
        for fork in list(self._forks):
            self._kill(fork)

    def _provide(self) -> None:
        """One for each caller that waits, and those that should wait for callers; the latter while it is quiet."""
        waiting = self._waiting()
        parties = {None, *(caller.party for caller in waiting)}
        coming = sum(fork.state is ForkState.OPENING and fork.party in parties for fork in self._forks)
        missing = len(waiting) - coming
        if self._is_quiet():
            at_hand = sum(fork.state in (ForkState.OPENING, ForkState.IDLE) for fork in self._forks)
            missing = max(missing, len(waiting) + self._warm - at_hand)
        for _ in range(0 if self._is_broken else missing):
            self._fork()

    def _is_quiet(self) -> bool:
        is_busy = self._waiting() or any(fork.caller is not None for fork in self._forks)
        return not is_busy or clock.monotonic() - self._ordered_at > self._patience.quiet_seconds

    def _fork(self) -> None:
        live = partial(
            executor.live,
            engine=self._engine,
            outputs_of=self._outputs_of,
            fresh_seconds=self._patience.fresh_seconds,
        )
        try:
            fork = forks.fork(live)
        except OSError as problem:
            self._break(f"no process to be had for an engine: {problem.strerror}")
            return
        self._forks.append(fork)
        self._selector.register(fork.peer, selectors.EVENT_READ, lambda _: self._hear(fork))

    def _hear(self, fork: Fork) -> None:
        for message in fork.peer.heard():
            if fork in self._forks:  # it may have been killed for the message before
                self._heard(fork, message)
        if fork.peer.is_gone and fork in self._forks:
            self._died(fork)

    def _heard(self, fork: Fork, message: wire.Message) -> None:
        caller = fork.caller
        if "ready" in message:
            self._rest(fork, message["ready"])
        elif "broken" in message:
            self._kill(fork)
            self._break(message["broken"])
        elif caller is not None and ("done" in message or "failed" in message):
            fork.state, fork.caller = ForkState.OPENING, None
            caller.tell_end(message if caller.state is CallerState.RUNNING else DEAD)
        elif caller is not None and not caller.peer.is_full:
            caller.peer.send(message)

    def _rest(self, fork: Fork, session_id: str) -> None:
        fork.session_id = session_id
        if fork.caller is not None:  # its order came while it changed to a fresh session
            return
        fork.rest()
        if fork.party is not None and fork.is_bloated():
            self._kill(fork)

    def _died(self, fork: Fork) -> None:
        """By itself: for want of memory, or by a fault of the engine's."""
        was_opening, caller = fork.state is ForkState.OPENING, fork.caller
        why = f"the process of the SQL engine died ({_how(self._kill(fork))}): it may have run out of memory"
        if was_opening:
            self._break(why)
        if caller is not None:
            is_asked = caller.state is CallerState.ENDING
            self._bury(fork, caller, DEAD if is_asked else {"failed": why, "text": ""})

    def _kill(self, fork: Fork, then: wire.Message | None = None) -> int:
        """`then` is for its caller, when what its query left has gone, too."""
        self._selector.unregister(fork.peer)
        self._forks.remove(fork)
        code = fork.kill()
        if then is not None and fork.caller is not None:
            self._bury(fork, fork.caller, then)
        return code

    def _bury(self, fork: Fork, caller: Caller, then: wire.Message) -> None:
        order = orders.from_plain(caller.order or {})
        caller.state, caller.fork = CallerState.ENDING, None

        def work() -> None:
            if not self._engine.dies_with_its_process:
                self._engine.bury(fork.session_id)
            sweep(order, self._outputs_of)

        self._sweepers.start(work, lambda: caller.tell_end(then))

    def _break(self, why: str) -> None:
        self._is_broken = True
        for caller in self._waiting():
            caller.tell_end({"failed": f"the SQL engine does not start: {why}", "text": ""})


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
