"""The workers of a shard: what was fired waits for a slot, holds it while it runs, and is recorded when it ends."""

from collections import deque

from bench.scale.constants import Constants
from bench.scale.histogram import Histogram
from bench.scale.model import BEAT_SECONDS, RENEW_SECONDS, WORKERS, Load
from bench.scale.shared_cores import SharedCores
from waterclock.domain.moment import SECOND
from waterclock.domain.placement import share

AT_ONCE = 500  # that one claim takes


class Slots:
    """Counts, not runs; one step a second. Each claim takes the worker's share, as `domain.placement` has it."""

    def __init__(self, slots: int, load: Load, constants: Constants, cores: SharedCores) -> None:
        self.slots = slots
        self._run_seconds = max(1, round(load.run_seconds))
        self._constants = constants
        self._deletes = not load.drops
        self._calls_seconds = (  # of the API, for each run
            load.starts_share * constants.start_call.database_seconds(1)
            + load.reads_per_run * constants.read_call.database_seconds(1)
        )
        self._cores = cores
        self._waiting: deque[tuple[int, float]] = deque()  # due at, how many
        self._ends: deque[float] = deque([0.0] * self._run_seconds)  # in so many seconds
        self._delay_seconds = 0.0
        self.running = 0.0
        self.ended = 0.0
        self.late = Histogram()

    def fired(self, due_us: int, count: float, at_us: int) -> None:
        """Whoever has room takes it at once; what is over waits for slots, in turn."""
        started = 0.0 if self._waiting else self._start(due_us, count, (at_us - due_us) / SECOND)
        if started < count:
            self._waiting.append((due_us, count - started))

    @property
    def waiting(self) -> float:
        return sum(count for _, count in self._waiting)

    def second(self, now_us: int, delay_seconds: float) -> None:
        """`delay_seconds`: what a transaction has to wait for the database by now."""
        self._delay_seconds = delay_seconds
        self._ends.append(0.0)
        self._end(self._ends.popleft())
        while self._waiting and self.slots - self.running >= 1:
            due_us, count = self._waiting.popleft()
            started = self._start(due_us, count, (now_us - due_us) / SECOND)
            if started < count:
                self._waiting.appendleft((due_us, count - started))
        self._cores.ask(self._standing_seconds())

    def _standing_seconds(self) -> float:
        """What is done however much begins and ends: leases are renewed, and nodes say that they live."""
        renewed = self._constants.renew.database_seconds(self.running / RENEW_SECONDS, WORKERS / RENEW_SECONDS)
        return renewed + self._constants.beat.database_seconds(0, WORKERS / BEAT_SECONDS)

    def _start(self, due_us: int, count: float, late_seconds: float) -> float:
        """How many of them begin; the lateness is that of the claim's end."""
        room = max(0.0, self.slots - self.running)
        some = min(count, room)
        if some < 1:
            return 0.0
        each = share(round(some), room=max(1, round(room / WORKERS)), others_room=round(room - room / WORKERS))
        claims = -(-round(some) // max(1, min(each, AT_ONCE)))
        claim, begin = self._constants.claim, self._constants.begin
        self._cores.ask(claim.database_seconds(some, claims) + begin.database_seconds(some, claims))
        self._cores.ask(some * self._calls_seconds)
        at_once = min(some, AT_ONCE)
        waits = (self._constants.commit_ms + claim.trips * self._constants.trip_ms) / 1_000 + self._delay_seconds
        took = claim.python_seconds(at_once) + claim.database_seconds(at_once) + waits
        self.late.add(late_seconds + took, some)
        self.running += some
        self._ends[-1] += some
        return some

    def _end(self, ended: float) -> None:
        self.running -= ended
        self.ended += ended
        transactions = -(-ended // AT_ONCE) + (WORKERS if ended else 0)
        self._cores.ask(self._constants.end.database_seconds(ended, transactions))
        if self._deletes:  # as many grow old as end
            self._cores.ask(self._constants.prune.database_seconds(ended))
