"""A contestant's program: started for one round in a process of its own, prints one JSON line of figures, is gone."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from bench.contest.contestant import BenchProblem, Figures
from bench.harness import ROOT

TIMEOUT_SECONDS = 150.0


def figures_of(
    command: Sequence[str], timeout_seconds: float = TIMEOUT_SECONDS, environment: Mapping[str, str] | None = None
) -> Figures:
    """Its last line; BenchProblem with the end of what it complained of where it fails or takes too long."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}", **(environment or {})},
        start_new_session=True,
    )
    try:
        said, complained = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        raise BenchProblem(f"not done within {timeout_seconds:g} s") from None
    finally:
        _end(process)
    if process.returncode:
        last = (complained.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        raise BenchProblem(last)
    return _parsed(said)


def _parsed(said: str) -> Figures:
    try:
        found = json.loads(said.strip().splitlines()[-1])
    except (IndexError, ValueError):
        raise BenchProblem(f"no figures, but {said[-200:]!r}") from None
    return {name: float(value) for name, value in found.items()}


def _end(process: "subprocess.Popen[str]") -> None:
    """With all that it has started: it leads a group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
