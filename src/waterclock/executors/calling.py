"""One call, made where it stands. A worker process imports this first: nothing heavy may be imported here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CoroutineType
from typing import Any


def result_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What it returns. A coroutine is run to its end in a loop of its own: APScheduler's pools never await it."""
    value = function(*args, **kwargs)
    return _awaited(value) if type(value) is CoroutineType else value


def traceback_of(error: BaseException, ours: int) -> str:
    """As Python prints it, causes and notes included, without the outermost frames that are `ours`.

    The locals of its frames are let go: whoever keeps the error would else keep the arguments of the call.
    """
    from traceback import clear_frames, format_exception

    trace = error.__traceback__
    for _ in range(ours):
        trace = trace.tb_next if trace else None
    text = "".join(format_exception(error.with_traceback(trace)))
    clear_frames(trace)
    return text


def _awaited(coroutine: CoroutineType[Any, Any, Any]) -> Any:
    import asyncio

    return asyncio.run(coroutine)
