"""A worker process of a pool: it takes one call after the other from its connection and answers how each ended.

It is imported in the new process, so it imports little. It ends when its connection does, and at once, with all that
its call has started, when the parent dies.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final

from waterclock.executors.calling import result_of, traceback_of
from waterclock.executors.errors import RemoteError

READY: Final = "ready"
BEGUN: Final = "begun"  # from here on a call may have had effects: it is made once
RETURNED: Final = "returned"
RAISED: Final = "raised"

# What the parent hears: one of the words above, a pickle of the value or the error, and the text of its traceback.
Answer = tuple[str, bytes, str]


def work(connection: Connection, initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    """The whole life of a worker: ready, or why not; then, for every call, that it has begun and how it ended."""
    with suppress(PermissionError):  # it leads a group already
        os.setsid()  # all that its call starts is in its group; an interrupt at the terminal is the parent's business
    threading.Thread(target=_die_with_parent, name="waterclock-parent", daemon=True).start()
    try:
        if initializer is not None:
            initializer(*initargs)
    except BaseException as error:
        error.add_note("raised by the initializer of the executor's pool: the call itself was not made")
        connection.send(_failure(error, ours=1))
        return
    with suppress(EOFError, ConnectionError):  # the parent has no more calls for it
        connection.send((READY, b"", ""))
        while True:
            order = connection.recv_bytes()
            connection.send((BEGUN, b"", ""))
            connection.send(_answer(order))


def _die_with_parent() -> None:
    """While a call runs, nobody reads the connection. A signal at the parent's death would leave children behind."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    from waterclock.executors.killing import kill_below

    kill_below(os.getpid())
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _answer(order: bytes) -> Answer:
    try:
        function, args, kwargs = ForkingPickler.loads(order)
        value = result_of(_found(function) if isinstance(function, str) else function, args, kwargs)
    except BaseException as error:
        return _failure(error, ours=2)
    try:
        return RETURNED, bytes(ForkingPickler.dumps(value)), ""
    except Exception as error:
        what = f"the call returned a {_name(value)}, which cannot be sent from the worker process: {error}"
        return _failure(RemoteError(what), ours=0)


def _failure(error: BaseException, ours: int) -> Answer:
    """An error that cannot be pickled, or not be made anew from its pickle, is told by its name and text."""
    text = traceback_of(error, ours)
    try:
        pickled = bytes(ForkingPickler.dumps(error))
        ForkingPickler.loads(pickled)
    except Exception as why:
        from traceback import format_exception_only

        shown = "".join(format_exception_only(error)).strip()
        stand_in = RemoteError(f"{shown} (a {_name(error)} cannot be sent from the worker process: {why})")
        pickled = bytes(ForkingPickler.dumps(stand_in))
    return RAISED, pickled, text


def _found(reference: str) -> Any:
    """The function that `module:qualified.name` stands for; the program's own script is `__main__` here too."""
    module, _, names = reference.partition(":")
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
