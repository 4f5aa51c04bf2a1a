"""What a new supervisor does first: make sure that nothing of a dead one's programs is left, then say how they ended.

Four nets, each exact: the keepers it named (number and start time), the programs it named and all below them, the
control groups that bear this state directory's name, and processes that carry an attempt's token in their environment.
A number that meanwhile belongs to somebody else is left alone.
"""

import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from waterclock import clock
from waterclock.runners import last_words, proc
from waterclock.runners.base import End, Ended
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.proc import Process
from waterclock.runners.supervisor.journal import Past, Trace

_KEEPER_PATIENCE_SECONDS: Final = 2.0  # a keeper left alone kills its program by itself, and knows how it ended
_ROUND_SECONDS: Final = 0.01


def recover(past: Past, boot: str, ends_dir: Path, cgroup_root: Cgroup | None) -> list[Trace]:
    """The attempts of the past, every one of them ended."""
    unended = [trace for trace in past.traces.values() if trace.ended is None]
    if past.boot == boot:
        _wait_for_keepers([trace.keeper for trace in unended if trace.keeper is not None])
        _kill_until_nothing_is_left(unended, cgroup_root)
    for trace in unended:
        trace.ended = _how_it_ended(trace, ends_dir)
    last_words.remove_all(ends_dir)
    return list(past.traces.values())


def _how_it_ended(trace: Trace, ends_dir: Path) -> Ended:
    words = last_words.find(ends_dir, trace.attempt_id)
    if words is not None and words.fence == trace.fence:
        return words
    return Ended(
        attempt_id=trace.attempt_id,
        fence=trace.fence,
        end=End.LOST,
        message="the supervisor died; nothing of the program is left, how it ended is unknown",
    )


def _wait_for_keepers(keepers: Iterable[Process]) -> None:
    deadline = clock.monotonic() + _KEEPER_PATIENCE_SECONDS
    for keeper in keepers:
        while proc.is_alive(keeper) and clock.monotonic() < deadline:
            time.sleep(_ROUND_SECONDS)


def _kill_until_nothing_is_left(traces: list[Trace], cgroup_root: Cgroup | None) -> None:
    groups = cgroup_root.members() if cgroup_root else []
    while _kill_round(traces, groups):
        time.sleep(_ROUND_SECONDS)
    for group in groups:
        group.remove()


def _kill_round(traces: list[Trace], groups: list[Cgroup]) -> bool:
    """Kill all that can be found; whether something was."""
    found = {process for trace in traces for process in _leftovers(trace)}
    for process in found:
        proc.send_signal(process, signal.SIGKILL)
    populated = [group for group in groups if group.is_populated()]
    for group in populated:
        group.kill()
    return bool(found or populated)


def _leftovers(trace: Trace) -> list[Process]:
    roots = [trace.keeper] if trace.keeper else []
    if trace.begun is not None:
        roots.append(Process(trace.begun.pid, trace.begun.pid_started_at))
    alive = [root for root in roots if proc.is_alive(root)]
    below = [process for root in alive for process in proc.descendants(root.pid)]
    return [process for process in (*alive, *below, *proc.with_environment(trace.token)) if proc.is_alive(process)]
