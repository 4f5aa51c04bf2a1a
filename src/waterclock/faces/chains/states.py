"""States in the words of chains, in one table."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.flow import FLOW_LIVE, FlowRun, FlowState
from waterclock.domain.run import RunState

WAITING: Final = "WAITING"
RUNNING: Final = "RUNNING..."
SUCCESS: Final = "Success"
FAILED: Final = "Failed"
KILLED: Final = "KILLED"
SKIPPED: Final = "SKIPPED"

OF_NODES: Final[Mapping[RunState, str]] = {
    RunState.WAITING: WAITING,
    RunState.STARTING: RUNNING,
    RunState.RUNNING: RUNNING,
    RunState.STOPPING: RUNNING,
    RunState.SUCCEEDED: SUCCESS,
    RunState.FAILED: FAILED,
    RunState.TIMEOUT: FAILED,
    RunState.ERROR: FAILED,
    RunState.EXPIRED: FAILED,
    RunState.STOPPED: KILLED,
    RunState.SKIPPED: SKIPPED,
}
OF_RUNS: Final[Mapping[FlowState, str]] = {
    FlowState.RUNNING: RUNNING,
    FlowState.STOPPING: RUNNING,
    FlowState.COMPLETED: SUCCESS,
    FlowState.ERROR: FAILED,
    FlowState.STOPPED: KILLED,
}


def node_state(run: FlowRun, state: str | None) -> str:
    """`state` is None for what has not begun: its turn has not come, or never will."""
    if state is None:
        return WAITING if run.state in FLOW_LIVE else SKIPPED
    return OF_NODES[RunState(state)]
