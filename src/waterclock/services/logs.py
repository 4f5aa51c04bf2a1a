"""Logs: of runs that the caller may see, read where they lie, inside the log root or the log store and nowhere else.

Whoever shows a run's output reads it here: the secrets that it was given are masked. An absolute path is a file of the
worker's host; a relative one is a name in the log store.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput, LogElsewhere
from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.domain.moment import seconds
from waterclock.domain.run import Attempt
from waterclock.domain.secret import secret_names
from waterclock.runners import logs as files
from waterclock.runners.log_lines import Span, lines_after, lines_before
from waterclock.runners.log_store import FileLogStore, LogStore, StoredLog
from waterclock.runners.log_threads import LogThreads
from waterclock.runners.logs import LocalLog, Log, Notice
from waterclock.services.runs import Runs
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.log_places import ended_for, name_of_host

FOLLOW_BYTES: Final = 64 * 1024
LOOK_SECONDS: Final = 0.1  # how often a run that has no log yet is looked at
COMPLETE_SECONDS: Final = 30.0  # after the end of a run its log is taken to be whole, should the worker not say so
ASK_SECONDS: Final = 1.0  # how often the store is asked about a run that is followed, besides wake-ups
GATHER_SECONDS: Final = 0.02  # under a storm of wake-ups, the pause before the store is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """A piece of a log; `ended` when there will never be more of it after `next_offset`."""

    text: str
    next_offset: int
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """With its end, where it has one; `offset` is where it begins."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLines:
    """Whole lines that follow one another, and the bytes of the log that they are."""

    lines: tuple[Line, ...]
    start: int
    end: int


class SecretMasks(Protocol):
    async def masks(self, org_id: int, names: Collection[str]) -> Masks: ...


class Logs:
    """`host` is who we are: a log of another host is looked for here only where both share the folder."""

    def __init__(
        self,
        database: Database,
        runs: Runs,
        root: Path,
        secrets: SecretMasks,
        *,
        store: LogStore | None = None,
        host: str = "",
    ) -> None:
        self._database = database
        self._runs = runs
        self._root = root
        self._secrets = secrets
        self._store = store or FileLogStore(root)
        self._host = host
        self._threads = LogThreads()

    async def read(self, caller: Caller, wire_id: str, *, offset: int, limit: int) -> LogPage:
        """What is there now. The run is looked at before its log: what it wrote until its end is then in it."""
        attempt = await self._runs.get(caller, wire_id)
        return await self._page(attempt, await self._log(attempt), offset, limit)

    async def lines(self, attempt: Attempt, *, offset: int | None, most: int, backwards: bool = False) -> LogLines:
        """Up to `most` from `offset` on, or the last ones before it, where None is the end; what is there now."""
        log = await self._log(attempt)
        if log is None:
            return LogLines(lines=(), start=offset or 0, end=offset or 0)
        is_whole = await self._is_whole(attempt, log)
        if backwards:
            span = await self._threads.run(lines_before, log, offset, most, is_finished=is_whole)
        else:
            span = await self._threads.run(lines_after, log, offset or 0, most, is_finished=is_whole)
        if not span.starts:
            return LogLines(lines=(), start=span.end, end=span.end)
        page = await self._page(attempt, log, span.starts[0], span.end - span.starts[0])
        return _lines_of(span, page)

    async def follow(self, caller: Caller, wire_id: str, *, offset: int) -> AsyncIterator[LogPage | Attempt]:
        """The log as it grows, and the run: at first, when it changes, now and then as a sign of life, and at its end.

        The end comes last, after all of the log. Of a log that cannot be read from here one line says so.
        """
        attempt = await self._runs.get(caller, wire_id)
        log, masks = await self._log_or_notice(attempt), await self._masks(attempt)
        if not attempt.ended:
            yield attempt
        with self._woken_by_ends() as woken:
            pace = _Pace(woken)
            while not (page := await self._page(attempt, log, offset, FOLLOW_BYTES, masks)).ended:
                was_at, offset = offset, page.next_offset
                if page.text:
                    yield page
                elif offset > was_at:  # all of it is hidden
                    continue
                elif await pace.time_to_ask(log):
                    was, attempt = attempt, await self._runs.get(caller, wire_id)
                    if log is None:
                        log, masks = await self._log_or_notice(attempt), await self._masks(attempt)
                    if not attempt.ended and (attempt.state is not was.state or not pace.was_woken):
                        yield attempt
        yield page
        yield attempt

    async def _masks(self, attempt: Attempt) -> Masks:
        """Asked once a log is there: the program had its secrets before that, so no version of them is missing."""
        names = secret_names(attempt.arguments) if attempt.log_path is not None else ()
        return await self._secrets.masks(attempt.org_id, names) if names else NOTHING_TO_MASK

    async def _page(
        self, attempt: Attempt, log: Log | None, offset: int, limit: int, masks: Masks | None = None
    ) -> LogPage:
        if offset < 0:
            raise InvalidInput("must not be negative", field="offset", value=offset)
        if log is None:
            return LogPage(text="", next_offset=offset, ended=attempt.ended)
        masks = await self._masks(attempt) if masks is None else masks
        is_whole = await self._is_whole(attempt, log)
        chunk = await self._threads.run(files.read, log, offset, limit, is_finished=is_whole, masks=masks)
        return LogPage(text=chunk.text, next_offset=chunk.next_offset, ended=is_whole and chunk.at_end)

    # Where it lies

    async def _log(self, attempt: Attempt) -> Log | None:
        path = attempt.log_path
        if path is None:
            return None
        return (
            LocalLog(path=await self._local(attempt, Path(path))) if path[:1] == "/" else StoredLog(self._store, path)
        )

    async def _log_or_notice(self, attempt: Attempt) -> Log | None:
        try:
            return await self._log(attempt)
        except LogElsewhere as elsewhere:
            return Notice(str(elsewhere))

    async def _local(self, attempt: Attempt, path: Path) -> Path:
        is_others = bool(self._host) and attempt.host not in (None, self._host)
        try:
            found = files.inside(self._root, path)
        except InvalidInput:
            if not is_others:
                raise
        else:
            if not is_others or found.exists():
                return found
        name = await self._database.read(name_of_host, host=attempt.host or "")
        raise LogElsewhere(attempt.wire_id, name or attempt.host)

    async def _is_whole(self, attempt: Attempt, log: Log) -> bool:
        """Nothing more comes. The last of a log that is shipped comes after its run's end: soon, or not at all."""
        if not attempt.ended or not isinstance(log, StoredLog) or await self._threads.run(log.is_finished):
            return attempt.ended
        return await self._database.read(ended_for, ended_at=attempt.ended_at or 0) > seconds(COMPLETE_SECONDS)

    @contextlib.contextmanager
    def _woken_by_ends(self) -> Iterator[asyncio.Event]:
        woken = asyncio.Event()
        deaf = self._database.listen(Topic.ENDS, woken.set)
        try:
            yield woken
        finally:
            deaf()


def _lines_of(span: Span, page: LogPage) -> LogLines:
    """A page that ends early holds back what may become a secret: so is the line that it is in."""
    start = span.starts[0]
    if span.is_piece:
        return LogLines(lines=(Line(offset=start, text=page.text),), start=start, end=page.next_offset)
    ends = [end for end in (*span.starts[1:], span.end) if end <= page.next_offset]
    texts = [f"{text}\n" for text in page.text.split("\n")]
    texts[-1] = texts[-1].removesuffix("\n")  # what follows the last end of a line: its own end is not here
    lines = tuple(Line(offset=at, text=text) for at, text, _ in zip(span.starts, texts, ends, strict=False) if text)
    return LogLines(lines=lines, start=start, end=ends[-1] if ends else start)


class _Pace:
    """When to ask the store about a run that is followed: after a wake-up, and now and then."""

    def __init__(self, woken: asyncio.Event) -> None:
        self._woken = woken
        self._asked_at = clock.monotonic()
        self.was_woken = False

    async def time_to_ask(self, log: Log | None) -> bool:
        """Rests until the log is worth a look; whether the run is, too."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(log.look_seconds if log else LOOK_SECONDS):
                await self._woken.wait()
        self.was_woken = self._woken.is_set()
        if self.was_woken:
            self._woken.clear()
            await asyncio.sleep(GATHER_SECONDS)
        # Nobody is woken when a run begins: until then ask at every look.
        due = log is None or clock.monotonic() - self._asked_at >= ASK_SECONDS
        if self.was_woken or due:
            self._asked_at = clock.monotonic()
            return True
        return False
