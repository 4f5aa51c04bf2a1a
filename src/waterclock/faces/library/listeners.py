"""Who is told of events: of what a program does itself at once, of all else in order in a thread of their own."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from waterclock.events import EVENT_ALL, SchedulerEvent

log: Final = logging.getLogger("waterclock.library")

Callback = Callable[[Any], object]


@dataclass(frozen=True, slots=True, eq=False)
class _Listener:
    callback: Callback
    mask: int


_News = queue.SimpleQueue[tuple[SchedulerEvent, tuple[_Listener, ...]] | threading.Event | None]


@dataclass(frozen=True, slots=True)
class _Ear:
    """The thread, and what it is still to tell: events, whom to say that all before was heard, the end."""

    thread: threading.Thread
    news: _News


class Listeners:
    """Safe to use from any thread, listeners included: no lock is held while one of them is called.

    A listener that raises is logged, and the others are told all the same. One that was removed hears nothing more;
    one that was added hears what happens from then on.
    """

    def __init__(self) -> None:
        self._listeners: tuple[_Listener, ...] = ()  # replaced, never changed: readers need no lock
        self._mask = 0
        self._lock = threading.RLock()  # a signal handler may come in the middle of any of this
        self._listening: _Ear | None = None  # from the first event on that somebody listens to

    def add(self, callback: Callback, mask: int = EVENT_ALL) -> None:
        if not callable(callback):
            raise TypeError(f"a listener must be callable, not {type(callback).__name__}")
        with self._lock:
            self._replace((*self._listeners, _Listener(callback, mask)))

    def remove(self, callback: Callback) -> None:
        """However often it was added; one that never was is no error."""
        with self._lock:
            self._replace(tuple(each for each in self._listeners if each.callback != callback))

    def wants(self, code: int) -> bool:
        """Cheap enough to ask before an event is even made."""
        return bool(self._mask & code)

    def tell_now(self, event: SchedulerEvent) -> None:
        """In the caller's thread, before this returns: for what the caller itself brought about."""
        if self._mask & event.code:
            self._hear(event, self._listeners)

    def tell(self, event: SchedulerEvent) -> None:
        """Returns at once, whatever the listeners do."""
        if self._mask & event.code:
            with self._lock:
                self._ear().news.put((event, self._listeners))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was told so far is heard; False where it was not, in time.

        A listener cannot wait for itself: for one of them this is False at once.
        """
        heard = threading.Event()
        with self._lock:
            ear = self._listening
            if ear is None or ear.thread is threading.current_thread():
                return ear is None
            ear.news.put(heard)
        return heard.wait(timeout)

    def close(self) -> None:
        """The thread ends when it has told all that it was given. The listeners stay, for a scheduler that restarts."""
        with self._lock:
            ear, self._listening = self._listening, None
            if ear is not None:
                ear.news.put(None)

    def _replace(self, listeners: tuple[_Listener, ...]) -> None:
        self._listeners = listeners
        self._mask = reduce(or_, (listener.mask for listener in listeners), 0)

    def _ear(self) -> _Ear:
        if self._listening is None:
            news: _News = queue.SimpleQueue()
            thread = threading.Thread(target=self._listen, args=(news,), name="waterclock-listeners", daemon=True)
            thread.start()
            self._listening = _Ear(thread, news)
        return self._listening

    def _listen(self, news: _News) -> None:
        while (arrived := news.get()) is not None:
            if isinstance(arrived, threading.Event):
                arrived.set()
            else:
                self._hear(*arrived)

    def _hear(self, event: SchedulerEvent, listeners: tuple[_Listener, ...]) -> None:
        """Those who listened when it was told, and still do."""
        for listener in listeners:
            if listener.mask & event.code and listener in self._listeners:
                try:
                    listener.callback(event)
                except (Exception, SystemExit):  # the user's code: one listener must not silence the others
                    log.exception("a listener failed at %r", event)
