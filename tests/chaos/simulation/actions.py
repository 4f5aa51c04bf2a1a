"""What may happen to the cluster: values that Hypothesis chooses, and that a failure is told in."""

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from tests.chaos.simulation.faces import Plan
from tests.chaos.simulation.jobs import JOBS
from tests.chaos.simulation.nodes import MARGIN_SECONDS, TTL_SECONDS
from tests.chaos.simulation.party import Fault, What, When

Faults = tuple[Fault | None, ...]

SPANS: Final = (0.05, 0.3, 0.7, 1.0, 2.0, TTL_SECONDS, TTL_SECONDS + 0.2, TTL_SECONDS + MARGIN_SECONDS + 0.1, 15.0)


LENGTH: Final = 60  # actions of a story


@dataclass(frozen=True, slots=True)
class Pass:
    """Time goes by, and nobody but processes and timers does anything."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Round:
    """Everybody who is up does one round of each duty, beginning with this one; and some more, as time goes by."""

    first: int
    more: int = 0


@dataclass(frozen=True, slots=True)
class Tick:
    """One duty of one node does one round, and meets these faults."""

    node: int
    duty: str
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class Pause:
    node: int


@dataclass(frozen=True, slots=True)
class CutOff:
    """Nobody answers it any more, nor the supervisor of its host."""

    node: int


@dataclass(frozen=True, slots=True)
class Resume:
    """It goes on and is answered again, as are its calls that hang; so are its supervisor and all callers."""

    node: int


@dataclass(frozen=True, slots=True)
class Crash:
    node: int


@dataclass(frozen=True, slots=True)
class Boot:
    """A new process in the place of one that is dead."""

    node: int
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class Leave:
    """A worker is asked to go, and does."""

    node: int
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class Fall:
    """A supervisor dies, and what it ran with it; or the whole host, which may come back without its memory."""

    host: int
    whole: bool = False
    forgets: bool = False


@dataclass(frozen=True, slots=True)
class StartRun:
    call: int
    job: str
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class StopRun:
    """One of the runs that there are, counted from the newest."""

    run: int
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class StopTrigger:
    trigger: int
    stop_runs: bool
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class StartTrigger:
    trigger: int
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class UpdateTrigger:
    trigger: int
    plan: Plan
    faults: Faults = ()


Action = (
    Pass | Round | Tick | Pause | CutOff | Resume | Crash | Boot | Leave | Fall
    | StartRun | StopRun | StopTrigger | StartTrigger | UpdateTrigger
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that Hypothesis decides: how large the cluster is, what it is to do, and what happens to it."""

    schedulers: int = 2
    workers: int = 2
    plans: tuple[Plan, ...] = ()
    actions: tuple[Action, ...] = ()


NODES: Final = st.integers(0, 4)
DUTIES: Final = (
    *("ticker", "ticker", "dispatcher", "dispatcher", "dispatcher", "recorder", "recorder"),
    *("rescuer", "stopper", "heartbeat", "supervisor"),
)
FAULT: Final = st.builds(Fault, st.sampled_from(What), st.sampled_from(When))
FAULTS: Final = st.one_of(
    st.just(()), st.tuples(FAULT), st.tuples(st.none(), FAULT), st.tuples(st.none(), st.none(), FAULT)
)
PLANS: Final = st.builds(
    Plan,
    jobs=st.lists(st.sampled_from(sorted(JOBS.keys() - {"endless"})), min_size=1, max_size=2, unique=True).map(tuple),
    every_seconds=st.sampled_from((1, 2, 5, 10)),
    policy=st.sampled_from(("skip", "one", "all")),
    grace_seconds=st.sampled_from((1.5, 5.0, 60.0)),
)
ROUNDS: Final = st.builds(Round, NODES, st.sampled_from((0, 0, 1, 7)))
SPAN: Final = st.builds(Pass, st.sampled_from(SPANS))
TICKS: Final = st.builds(Tick, NODES, st.sampled_from(DUTIES), FAULTS)
CALLS: Final = st.builds(StartRun, st.integers(0, 9), st.sampled_from(sorted(JOBS)), FAULTS)
WEIGHTS: Final[dict[st.SearchStrategy[Action | None], int]] = {
    st.none(): 1,  # what a shorter story has in the place of all that does not matter
    ROUNDS: 6,
    SPAN: 6,
    TICKS: 8,
    CALLS: 3,
    st.builds(Resume, NODES): 2,
    st.builds(Boot, NODES, FAULTS): 3,
    st.builds(Pause, NODES): 1,
    st.builds(CutOff, NODES): 2,
    st.builds(Crash, NODES): 1,
    st.builds(Leave, NODES, FAULTS): 1,
    st.builds(Fall, NODES, st.booleans(), st.booleans()): 1,
    st.builds(StopRun, st.integers(0, 4), FAULTS): 1,
    st.builds(StopTrigger, NODES, st.booleans(), FAULTS): 1,
    st.builds(StartTrigger, NODES, FAULTS): 1,
    st.builds(UpdateTrigger, NODES, PLANS, FAULTS): 1,
}
ACTIONS: Final = st.sampled_from([each for each, weight in WEIGHTS.items() for _ in range(weight)]).flatmap(
    lambda chosen: chosen
)
STORIES: Final = st.builds(
    Story,
    schedulers=st.integers(1, 3),
    workers=st.integers(1, 3),
    plans=st.lists(PLANS, min_size=1, max_size=3).map(tuple),
    actions=st.lists(ACTIONS, min_size=LENGTH, max_size=LENGTH).map(lambda chosen: tuple(filter(None, chosen))),
)
