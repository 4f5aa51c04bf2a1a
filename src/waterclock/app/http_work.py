"""`Work`, `Membership` and secrets over HTTP: all that a worker without a database asks, docs/decisions/0007."""

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Final, TypeVar

from waterclock import clock
from waterclock.app.server_line import ServerLine
from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.errors import NotSent, ServerLost, Unavailable, WaterclockError
from waterclock.domain.masking import Masks
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.outcome import Beginning, Lone, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.run import Attempt
from waterclock.faces.work_messages import (
    Adopt,
    Adopted,
    AskSecrets,
    Attempts,
    Beat,
    Claim,
    Done,
    GiveBack,
    Leave,
    Lock,
    Locked,
    Record,
    Release,
    Renew,
    Stopping,
    Taken,
    Tell,
    Texts,
    Values,
    Woken,
)
from waterclock.stores.base import Topic
from waterclock.stores.ops.nodes import Answer, Node, Pulse
from waterclock.stores.ops.rows import storable
from waterclock.stores.wakeups import Listeners

log: Final = logging.getLogger("waterclock.worker")
T = TypeVar("T")

WAKE_SECONDS: Final = 20  # a question about wake-ups waits as long for its answer
GATHER_SECONDS: Final = 0.02  # between two of them: under a storm one look serves for many
AGAIN_SECONDS: Final = 0.3
MARGIN_SECONDS: Final = 0.05  # two clocks do not run at exactly the same pace
REPORTS_AT_ONCE: Final = 10  # in one call: each has 64 KiB at most
BATCH_CHARACTERS: Final = 128 * 1024  # of ends in one call, which has room for a bookmark more: proxies take 1 MiB

_UNSPOKEN: Final = frozenset({"progress", "run_at"})  # a server of the version before knows no run_at
_SPOKEN: Final = tuple(entry.name for entry in fields(Outcome) if entry.name not in _UNSPOKEN)
_SPOKEN_OF_BEGINNING: Final = tuple(entry.name for entry in fields(Beginning) if entry.name not in _UNSPOKEN)


class HttpWork:
    """One host's. What is asked twice is done once; a claim is not asked twice while the first may still be done."""

    def __init__(self, line: ServerLine, host: str) -> None:
        self._line = line
        self._host = host
        self._listeners = Listeners()
        self._clock: tuple[Moment, float] | None = None  # the database's, and ours when we heard of it
        self._doubt_until = 0.0  # until then a call that was given up may still be done
        self._mark = ""

    async def close(self) -> None:
        await self._line.close()

    # Membership

    async def beat(self, node: Node, wall_us: int, pulse: Pulse) -> Answer:
        answer = await self._line.ask("/beat", Beat(node=node, wall_us=wall_us, pulse=pulse), Answer)
        self._clock = (wall_us - answer.skew_us, clock.monotonic())
        return answer

    async def leave(self, node_id: str) -> None:
        await self._line.ask("/leave", Leave(host=self._host, node=node_id), Done)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._listeners.add(topic, heard)

    async def hear(self) -> None:
        """One question about wake-ups, and those who listen are told of its answer."""
        woken = await self._line.call(
            "GET",
            "/wake",
            Woken,
            query={"mark": self._mark, "seconds": WAKE_SECONDS} if self._mark else {"seconds": WAKE_SECONDS},
            patience_seconds=WAKE_SECONDS,
        )
        self._mark = woken.mark
        self._listeners.tell(Topic(each) for each in woken.topics if each in set(Topic))

    # Claims

    async def claim(self, claimant: Claimant, *, limit: int, ttl_seconds: float) -> Claims:
        await self._no_doubt()
        asked = Claim(claimant=claimant, limit=limit, ttl_seconds=ttl_seconds, until=self._until())
        claims = await self._in_time("/claim", asked, Claims)
        self._clock = (claims.now, clock.monotonic())
        return claims

    async def give_back(self, claimant: Claimant, besides: Collection[int]) -> None:
        await self._no_doubt()
        await self._in_time(
            "/give-back", GiveBack(claimant=claimant, besides=tuple(besides), until=self._until()), Done
        )

    async def release(self, node: str, attempt_ids: Sequence[int]) -> None:
        if attempt_ids:
            asked = Release(host=self._host, node=node, attempt_ids=tuple(attempt_ids))
            await self._line.ask("/release", asked, Done)

    async def adopt(self, claimant: Claimant, *, ttl_seconds: float) -> Sequence[Claimed]:
        """Until it is answered: who does not know what it holds cannot begin."""
        asked = Adopt(claimant=claimant, ttl_seconds=ttl_seconds)
        answer: Adopted | None = None
        while answer is None:
            try:
                answer = await self._line.ask("/adopt", asked, Adopted)
            except ServerLost:
                await asyncio.sleep(AGAIN_SECONDS)
        return answer.claimed

    # What is held

    async def record(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
        """What programs said of themselves goes ahead of their ends, and is taken of what has begun."""
        lost: frozenset[int] = frozenset()
        if reports := _reports_of(outcomes):
            lost, beginnings = await self._record(beginnings, ()), ()
            await self._last_reports(reports)
        return lost | await self._record(beginnings, outcomes)

    async def _record(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
        lost: set[int] = set()
        for some, ends in _batches(beginnings, outcomes):
            asked = Record(host=self._host, beginnings=some, outcomes=ends)
            lost.update((await self._line.ask("/record", _without_reports(asked), Attempts)).attempt_ids)
        return frozenset(lost)

    async def _last_reports(self, reports: Sequence[Report]) -> None:
        """No end waits for ever because what was said before it cannot be stored."""
        try:
            await self.report(reports)
        except Unavailable:
            raise
        except WaterclockError as refused:
            log.warning("the last report of %d run(s) is not stored: %s", len(reports), refused)

    async def report(self, reports: Sequence[Report]) -> frozenset[int]:
        """To a server that knows nothing of reports they are just not told."""
        taken: set[int] = set()
        for first in range(0, len(reports), REPORTS_AT_ONCE):
            some = tuple(reports[first : first + REPORTS_AT_ONCE])
            all_of_them = Attempts(attempt_ids=tuple(each.attempt_id for each in some))
            asked = Tell(host=self._host, reports=some)
            taken.update((await self._line.ask("/report", asked, Attempts, unknown=all_of_them)).attempt_ids)
        return frozenset(taken)

    async def unbundle(self, runs: Collection[Lone]) -> None:
        """What comes over HTTP was claimed: it has its rows."""

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        asked = Renew(host=self._host, held=tuple(held), ttl_seconds=ttl_seconds)
        return frozenset((await self._line.ask("/renew", asked, Attempts)).attempt_ids)

    async def lock(self, attempt_id: int, fence: int, destinations: Collection[str]) -> str | None:
        """With servers that know nothing of locks it goes on without, as all their workers do."""
        asked = Lock(host=self._host, attempt_id=attempt_id, fence=fence, destinations=tuple(sorted(destinations)))
        without = Locked()
        answer = await self._line.ask("/lock", asked, Locked, unknown=without)
        if answer is without:
            log.warning("attempt %d writes without a lock: its server is older than this worker", attempt_id)
        return answer.waits_for

    async def stopping(self, node: str) -> Sequence[int]:
        return (await self._line.ask("/stopping", Stopping(host=self._host, node=node), Attempts)).attempt_ids

    async def ship(self, attempt_id: int, fence: int, offset: int, data: bytes, *, last: bool) -> int:
        """A piece of a log; how many bytes of it are in the log store now."""
        query: dict[str, str | int] = {
            "host": self._host,
            "fence": fence,
            "offset": offset,
            "last": "true" if last else "false",
        }
        return (await self._line.call("PUT", f"/logs/{attempt_id}", Taken, query=query, content=data)).size

    async def values(self, attempt: Attempt, names: Collection[str]) -> Mapping[str, str]:
        return (await self._line.ask("/secrets", self._asked(attempt, names), Values)).values

    async def masks(self, attempt: Attempt, names: Collection[str]) -> Masks:
        return Masks.of((await self._line.ask("/masks", self._asked(attempt, names), Texts)).texts)

    def _asked(self, attempt: Attempt, names: Collection[str]) -> AskSecrets:
        return AskSecrets(host=self._host, attempt_id=attempt.id, fence=attempt.fence, names=tuple(sorted(names)))

    # Calls that must not be done late

    async def _in_time(self, path: str, message: object, kind: type[T]) -> T:
        """Given up after the time that it says itself. Until that has passed nobody knows whether it is done."""
        began = clock.monotonic()
        try:
            async with asyncio.timeout(self._line.patience.seconds):
                return await self._line.ask(path, message, kind, again=False)
        except NotSent:
            raise
        except BaseException as problem:
            over_at = began + self._line.patience.seconds + MARGIN_SECONDS
            self._doubt_until = max(self._doubt_until, over_at)
            if isinstance(problem, TimeoutError):
                raise ServerLost("no server answered in time") from None
            raise

    async def _no_doubt(self) -> None:
        await asyncio.sleep(max(0.0, self._doubt_until - clock.monotonic()))

    def _until(self) -> Moment:
        """By the database's clock, of which we know at least how late it is."""
        if self._clock is None:
            raise ServerLost("no server has answered yet")
        then, heard_at = self._clock
        return then + seconds(clock.monotonic() - heard_at + self._line.patience.seconds)


def _batches(
    beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]
) -> Iterator[tuple[tuple[Beginning, ...], tuple[Outcome, ...]]]:
    """Small enough for one call each; what has begun and ended goes together."""
    begun = {each.attempt_id: each for each in beginnings}
    ends: list[Outcome] = []
    length = 0
    for outcome in map(_sendable, outcomes):
        ends.append(outcome)
        length += sum(len(text or "") for text in (outcome.message, outcome.output, outcome.bookmark))
        if length > BATCH_CHARACTERS:
            yield tuple(begun.pop(each.attempt_id) for each in ends if each.attempt_id in begun), tuple(ends)
            ends, length = [], 0
    if begun or ends:
        yield tuple(begun.values()), tuple(ends)


def _reports_of(outcomes: Sequence[Outcome]) -> list[Report]:
    return [
        Report(attempt_id=each.attempt_id, fence=each.fence, progress=json.loads(each.progress))
        for each in outcomes
        if each.progress is not None
    ]


def _without_reports(asked: Record) -> dict[str, object]:
    """A server of the version before would refuse a field that it does not know."""
    begun = [_spoken(each) for each in asked.beginnings]
    ends = [
        {name: getattr(each, name) for name in _SPOKEN} | {"beginning": each.beginning and _spoken(each.beginning)}
        for each in asked.outcomes
    ]
    return {"host": asked.host, "beginnings": begun, "outcomes": ends}


def _spoken(beginning: Beginning) -> dict[str, object]:
    return {name: getattr(beginning, name) for name in _SPOKEN_OF_BEGINNING}


def _sendable(outcome: Outcome) -> Outcome:
    """What programs say may hold anything. What only those know who write to the store themselves stays here."""
    return replace(
        outcome,
        message=storable(outcome.message),
        output=storable(outcome.output),
        bookmark=storable(outcome.bookmark),
        bookmark_refused=storable(outcome.bookmark_refused),
        job_id=None,
        lone=None,
    )
