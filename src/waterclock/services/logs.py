"""Logs: of runs that the caller may see, read where they lie, inside the log root and nowhere else.

Whoever shows a run's output reads it here: the secrets that it was given are masked.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput
from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.domain.run import Attempt
from waterclock.domain.secret import secret_names
from waterclock.runners import logs as files
from waterclock.runners.log_lines import Span, lines_after, lines_before
from waterclock.services.runs import Runs
from waterclock.stores.base import Database, Topic

FOLLOW_BYTES: Final = 64 * 1024
LOOK_SECONDS: Final = 0.1  # how often a file that is followed is looked at
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
    def __init__(self, database: Database, runs: Runs, root: Path, secrets: SecretMasks) -> None:
        self._database = database
        self._runs = runs
        self._root = root
        self._secrets = secrets

    async def read(self, caller: Caller, wire_id: str, *, offset: int, limit: int) -> LogPage:
        """What is there now. The run is looked at before its log: what it wrote until its end is then in it."""
        return await self._page(await self._runs.get(caller, wire_id), offset, limit)

    async def lines(self, attempt: Attempt, *, offset: int | None, most: int, backwards: bool = False) -> LogLines:
        """Up to `most` from `offset` on, or the last ones before it, where None is the end; what is there now."""
        if attempt.log_path is None:
            return LogLines(lines=(), start=offset or 0, end=offset or 0)
        path, ended = files.inside(self._root, Path(attempt.log_path)), attempt.ended
        if backwards:
            span = await asyncio.to_thread(lines_before, path, offset, most, is_finished=ended)
        else:
            span = await asyncio.to_thread(lines_after, path, offset or 0, most, is_finished=ended)
        if not span.starts:
            return LogLines(lines=(), start=span.end, end=span.end)
        page = await self._page(attempt, span.starts[0], span.end - span.starts[0])
        return _lines_of(span, page)

    async def follow(self, caller: Caller, wire_id: str, *, offset: int) -> AsyncIterator[LogPage | Attempt]:
        """The log as it grows, and the run: at first, when it changes, now and then as a sign of life, and at its end.

        The end comes last, after all of the log.
        """
        attempt = await self._runs.get(caller, wire_id)
        masks = await self._masks(attempt)
        if not attempt.ended:
            yield attempt
        with self._woken_by_ends() as woken:
            pace = _Pace(woken)
            while not (page := await self._page(attempt, offset, FOLLOW_BYTES, masks)).ended:
                was_at, offset = offset, page.next_offset
                if page.text:
                    yield page
                elif offset > was_at:  # all of it is hidden
                    continue
                elif await pace.time_to_ask(began=attempt.log_path is not None):
                    was, attempt = attempt, await self._runs.get(caller, wire_id)
                    if was.log_path is None:
                        masks = await self._masks(attempt)
                    if not attempt.ended and (attempt.state is not was.state or not pace.was_woken):
                        yield attempt
        yield page
        yield attempt

    async def _masks(self, attempt: Attempt) -> Masks:
        """Asked once a log is there: the program had its secrets before that, so no version of them is missing."""
        names = secret_names(attempt.arguments) if attempt.log_path is not None else ()
        return await self._secrets.masks(attempt.org_id, names) if names else NOTHING_TO_MASK

    async def _page(self, attempt: Attempt, offset: int, limit: int, masks: Masks | None = None) -> LogPage:
        if offset < 0:
            raise InvalidInput("must not be negative", field="offset", value=offset)
        if attempt.log_path is None:
            return LogPage(text="", next_offset=offset, ended=attempt.ended)
        masks = await self._masks(attempt) if masks is None else masks
        path = files.inside(self._root, Path(attempt.log_path))
        chunk = await asyncio.to_thread(files.read, path, offset, limit, is_finished=attempt.ended, masks=masks)
        return LogPage(text=chunk.text, next_offset=chunk.next_offset, ended=attempt.ended and chunk.at_end)

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

    async def time_to_ask(self, *, began: bool) -> bool:
        """Rests until the log is worth a look; whether the run is, too."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._woken.wait()
        self.was_woken = self._woken.is_set()
        if self.was_woken:
            self._woken.clear()
            await asyncio.sleep(GATHER_SECONDS)
        # Nobody is woken when a run begins: until then ask at every look.
        due = not began or clock.monotonic() - self._asked_at >= ASK_SECONDS
        if self.was_woken or due:
            self._asked_at = clock.monotonic()
            return True
        return False
