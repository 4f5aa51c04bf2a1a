"""The memory store as a `Database`: each operation that the library needs, done at once and whole."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, ParamSpec, TypeVar, cast

from waterclock.domain.moment import Moment
from waterclock.stores.base import Database, Operation, Partitions, Topic
from waterclock.stores.memory import firing, jobs, working
from waterclock.stores.memory.state import State
from waterclock.stores.ops import claiming, library, nodes, recording, submitting
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.wakeups import Listeners

T = TypeVar("T")
P = ParamSpec("P")

# What stands for each operation of the other stores. Nobody else holds these jobs: there is nothing to rescue.
INSTEAD: Final[Mapping[Any, Callable[..., Any]]] = {
    fire_due: firing.fire_due,
    claiming.claim: working.claim,
    claiming.release: working.release,
    claiming.give_back: working.give_back,
    claiming.renew: working.renew,
    claiming.adopt: working.adopt,
    claiming.stopping: working.stopping,
    recording.record: working.record,
    library.add_library_jobs: jobs.add_library_jobs,
    library.add_free_job: jobs.add_free_job,
    submitting.submit_calls: jobs.submit_calls,
    library.change_library_job: jobs.change_library_job,
    library.remove_library_jobs: jobs.remove_library_jobs,
    library.library_jobs: jobs.library_jobs,
    library.past_runs: jobs.past_runs,
    library.quarantine: jobs.quarantine,
    library.has_server: jobs.has_server,
    nodes.beat: lambda state, *, node, wall_us, pulse=nodes.NO_PULSE: nodes.Answer(skew_us=0),
    nodes.stop_node: lambda state, *, node_id: None,
}


class MemoryDatabase:
    """Implements `Database`. An operation never waits, so that any thread may run one with `do`."""

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.Lock()
        self._listeners = Listeners()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._telling: set[Topic] = set()  # what the loop is about to tell

    @property
    def partitions(self) -> Partitions | None:
        return None

    def apart(self) -> Database | None:
        return None

    @property
    def offset_us(self) -> int:
        return self._state.offset_us

    @offset_us.setter
    def offset_us(self, offset: int) -> None:
        self._state.offset_us = offset

    async def open(self) -> None:
        self._loop, self._telling = asyncio.get_running_loop(), set()

    async def close(self) -> None:
        self._loop = None

    async def migrate(self) -> Sequence[str]:
        return ()

    def do(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            done = INSTEAD[operation](self._state, *args, **kwargs)
            if self._state.topics:
                self._wake()
        return cast(T, done)

    def _wake(self) -> None:
        """Once for all that happens before the loop gets to it."""
        if not self._telling and self._loop is not None:
            self._loop.call_soon_threadsafe(self._tell)
        self._telling |= self._state.topics
        self._state.topics.clear()

    def _tell(self) -> None:
        with self._lock:
            topics, self._telling = self._telling, set()
        self._listeners.tell(topics)

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(operation, *args, **kwargs)

    async def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(operation, *args, **kwargs)

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(operation, *args, **kwargs)

    async def look_up(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(operation, *args, **kwargs)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._listeners.add(topic, heard)

    def next_fire_at(self, namespace: str, name: str) -> Moment | None:
        """As it is this moment: for whoever holds a job and looks at it again and again."""
        with self._lock:
            entry = self._state.entries.get((namespace, name))
            return None if entry is None else entry.next_at

    def is_due(self) -> bool:
        """Whether something waits to be fired: whoever is asked for after it begins after it."""
        with self._lock:
            return self._state.is_due()
