"""What the memory store holds: jobs with their next instants, runs that live, and a little of what has been."""

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from heapq import heapify, heappush
from itertools import count
from typing import Final

from waterclock import clock
from waterclock.domain.library import LibraryJob, PastRun, StoredJob
from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState, attempt_wire_id, run_wire_id
from waterclock.stores.base import Topic

ENTROPY: Final = 26  # bytes that tell the ids of runs of one moment apart
KEPT_RUNS: Final = 100  # of each job's past
KEPT_GONE: Final = 1_000  # jobs that were removed
MOST_VOID: Final = 1_000  # places in the order of fires that are void, besides one for each job
NUMBERS: Final = count(1)  # never the same twice, in whatever store of this process


@dataclass(slots=True, eq=False)
class Entry:
    """A job and its trigger. `mark` changes with every plan, so that an older place in the order of fires is void."""

    id: int
    namespace: str
    job: LibraryJob
    next_at: Moment | None = None
    version: int = 1
    mark: int = 0
    live: int = 0  # runs that have not ended
    active: int = 0  # those of them that hold a slot
    waiting: "list[Run]" = field(default_factory=list)
    past: "list[Run | PastRun]" = field(default_factory=list)

    def keep(self, line: "Run | PastRun") -> None:
        """For its history: the latest only."""
        self.past.append(line)
        if len(self.past) > 2 * KEPT_RUNS:
            del self.past[:KEPT_RUNS]

    def stored(self) -> StoredJob:
        job = self.job if self.job.next_fire_at == self.next_at else replace(self.job, next_fire_at=self.next_at)
        return StoredJob(job=job, id=self.id, version=self.version, trigger_id=self.id)


@dataclass(slots=True, eq=False)
class Run:
    """A run and its latest attempt. It has the names of the engine's `Attempt`, and is handed out as one."""

    entry: Entry
    job: LibraryJob  # as it was when it fired
    job_version: int
    id: int  # of the attempt
    run_id: int
    run_at: Moment
    due_at: Moment
    created_at: Moment
    state: RunState = RunState.STARTING
    number: int = 0
    fence: int = 0
    node: str | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    message: str | None = None
    output: str | None = None

    @property
    def job_name(self) -> str:
        return self.job.name

    @property
    def namespace(self) -> str:
        return self.entry.namespace

    @property
    def wire_id(self) -> str:
        return attempt_wire_id(run_wire_id(self.run_at, self.run_id.to_bytes(ENTROPY)), self.number)

    @property
    def probe_until(self) -> None:
        """Only gates of chains are probed."""


@dataclass(slots=True)
class State:
    offset_us: int = 0
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)  # by namespace and name
    past: deque[Entry] = field(default_factory=lambda: deque(maxlen=KEPT_GONE))  # what was removed, for its history
    fires: list[tuple[Moment, int, int, Entry]] = field(default_factory=list)  # a heap: when, job, mark
    ready: defaultdict[str, deque[Run]] = field(default_factory=lambda: defaultdict(deque))  # by queue
    later: dict[str, list[tuple[Moment, int, Run]]] = field(default_factory=dict)  # by queue, a heap: retries
    claimed: dict[int, Run] = field(default_factory=dict)  # by attempt
    topics: set[Topic] = field(default_factory=set)
    numbers: Iterator[int] = NUMBERS

    def now(self) -> Moment:
        return clock.wall_us() + self.offset_us

    def is_due(self) -> bool:
        """Whether there is something to fire that its ticker has not got to yet."""
        return bool(self.fires) and self.fires[0][0] <= self.now()

    def schedule(self, entry: Entry, at: Moment | None) -> None:
        """The entry's next instant; None: no other."""
        entry.mark += 1
        entry.next_at = at
        if at is not None:
            heappush(self.fires, (at, entry.id, entry.mark, entry))
            if self.fires[0][3] is entry:
                self.topics.add(Topic.TRIGGERS)
            if len(self.fires) > 2 * len(self.entries) + MOST_VOID:
                self._tidy()

    def _tidy(self) -> None:
        """Jobs that are changed or removed long before they are due leave places behind."""
        self.fires = [each for each in self.fires if each[2] == each[3].mark]
        heapify(self.fires)

    def remove(self, entry: Entry) -> None:
        """Its runs go on, and its history is kept for a while."""
        entry.mark += 1
        entry.next_at = None
        del self.entries[entry.namespace, entry.job.name]
        self.past.append(entry)

    def put(self, run: Run) -> None:
        """To be claimed by whoever serves its queue: now, or when it is due."""
        queue = run.job.spec.queue
        if run.number:
            heappush(self.later.setdefault(queue, []), (run.due_at, run.id, run))
        else:
            self.ready[queue].append(run)
        self.topics.add(Topic.ATTEMPTS)
