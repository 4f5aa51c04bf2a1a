"""Callables that run in the worker itself: named in the settings, never imported because a stored row says so."""

import asyncio
import contextlib
import inspect
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from waterclock.domain.errors import InvalidInput
from waterclock.runners.base import Begun, End, Ended, Event, Program


class CallableRunner:
    """`Runner` for functions: a coroutine function runs in the loop, any other in a thread, which cannot be killed."""

    def __init__(self, known: Mapping[str, Callable[..., object]], threads: int = 16) -> None:
        self._known = known
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="callable")
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._events: list[Event] = []
        self._arrived = asyncio.Event()

    async def start(self, programs: Sequence[Program]) -> None:
        for program in programs:
            self._say(Begun(attempt_id=program.attempt_id, fence=program.fence, pid=os.getpid(), pid_started_at=0))
            self._tasks[program.attempt_id] = asyncio.create_task(self._run(program))

    async def events(self) -> AsyncIterator[Sequence[Event]]:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch, self._events = self._events, []
            if batch:
                yield batch

    async def stop(self, attempt_ids: Sequence[int]) -> None:
        for attempt_id in attempt_ids:
            if task := self._tasks.get(attempt_id):
                task.cancel()

    async def held(self) -> Sequence[Begun]:
        return ()

    async def forget(self, attempt_ids: Sequence[int]) -> None:
        for attempt_id in attempt_ids:
            self._tasks.pop(attempt_id, None)

    async def _run(self, program: Program) -> None:
        end = Ended(attempt_id=program.attempt_id, fence=program.fence, end=End.EXITED, exit_code=0)
        try:
            async with asyncio.timeout(program.timeout_seconds):
                await self._call(self._known[program.argv[0]], program.argv[1:])
        except TimeoutError:
            end = _ended(program, End.TIMEOUT, "abandoned: a callable in a thread cannot be killed")
        except asyncio.CancelledError:
            end = _ended(program, End.STOPPED, None)
        except BaseException as problem:
            end = _ended(program, End.EXITED, f"{type(problem).__name__}: {problem}", exit_code=1)
        self._say(end)

    async def _call(self, function: Callable[..., object], arguments: Sequence[str]) -> None:
        if inspect.iscoroutinefunction(function):
            await function(*arguments)
        else:
            await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _say(self, event: Event) -> None:
        self._events.append(event)
        self._arrived.set()


def import_callables(names: Sequence[str]) -> dict[str, Callable[..., object]]:
    """The functions that the settings name, `module:function`; a wrong name is told at start, not at a run."""
    found: dict[str, Callable[..., object]] = {}
    for name in names:
        module, _, attribute = name.partition(":")
        function = None
        with contextlib.suppress(ImportError, AttributeError, ValueError):
            function = getattr(import_module(module), attribute)
        if not callable(function):
            raise InvalidInput(f"cannot import {name!r} (module:function)", field="callables", value=name)
        found[name] = function
    return found


def _ended(program: Program, end: End, message: str | None, *, exit_code: int | None = None) -> Ended:
    return Ended(attempt_id=program.attempt_id, fence=program.fence, end=end, message=message, exit_code=exit_code)
