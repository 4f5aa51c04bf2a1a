"""The decision how and when a program must end: pure, handed every moment, remembers the first reason."""

import signal
from enum import Enum, auto

from waterclock.runners.base import End


class _Phase(Enum):
    RUNNING = auto()
    TERMINATING = auto()  # everything was sent TERM and has its grace
    KILLING = auto()  # no more patience: until nothing is left


class Ending:
    """What to do to a program now, and at what moment to ask again."""

    __slots__ = ("_asked", "_cause", "_grace_seconds", "_kill_at", "_phase", "_timeout_at", "is_alone", "lease_until")

    def __init__(self, *, lease_until: float, grace_seconds: float) -> None:
        self.lease_until = lease_until
        self.is_alone = False  # the supervisor has gone
        self._grace_seconds = grace_seconds
        self._timeout_at: float | None = None
        self._kill_at: float | None = None
        self._phase = _Phase.RUNNING
        self._cause: End | None = None
        self._asked = False

    @property
    def end(self) -> End:
        return self._cause or End.EXITED

    @property
    def is_killing(self) -> bool:
        return self._phase is _Phase.KILLING

    def begins(self, now: float, timeout_seconds: float | None) -> bool:
        """False when its lease is already over: it must not begin at all."""
        if now >= self.lease_until:
            self.kills(End.LEASE_LOST)
            return False
        self._timeout_at = None if timeout_seconds is None else now + timeout_seconds
        return True

    def stops(self, cause: End, now: float) -> None:
        """TERM, and KILL after the grace; a second call changes nothing."""
        if self._phase is _Phase.RUNNING:
            self._cause = cause
            self._kill_at = now + self._grace_seconds
            self._phase = _Phase.TERMINATING

    def kills(self, cause: End) -> None:
        """At once, whatever was going on."""
        self._cause = self._cause or cause
        self._phase = _Phase.KILLING

    def orphaned(self) -> None:
        self.is_alone = True
        self.kills(End.LOST)

    def main_died(self) -> None:
        """By itself: what it left behind goes too. After TERM the others keep their grace."""
        if self._phase is _Phase.RUNNING:
            self.kills(End.EXITED)

    def decide(self, now: float) -> signal.Signals | None:
        """What to send to everything now."""
        if self._timeout_at is not None and now >= self._timeout_at:
            self.stops(End.TIMEOUT, now)
        if now >= self.lease_until:
            self.kills(End.LEASE_LOST)
        if self._kill_at is not None and now >= self._kill_at:
            self._phase = _Phase.KILLING
        if self._phase is _Phase.KILLING:
            return signal.SIGKILL
        if self._phase is _Phase.TERMINATING and not self._asked:
            self._asked = True
            return signal.SIGTERM
        return None

    def next_at(self) -> float:
        """The next moment at which `decide` may answer otherwise by itself."""
        timeout_at = self._timeout_at if self._phase is _Phase.RUNNING else None
        return min(moment for moment in (self.lease_until, timeout_at, self._kill_at) if moment is not None)
