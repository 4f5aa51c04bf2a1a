"""A contestant's program: started for one round in a process of its own, prints one JSON line of figures, is gone."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.contest.contestant import BenchProblem, Figures
from bench.harness import ROOT

TIMEOUT_SECONDS = 150.0


def figures_of(
    command: Sequence[str], timeout_seconds: float = TIMEOUT_SECONDS, environment: Mapping[str, str] | None = None
) -> Figures:
    """Its last line; BenchProblem with the end of what it complained of where it fails or takes too long."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as scratch:
        said, complained = Path(scratch) / "said", Path(scratch) / "complained"
        with said.open("w") as out, complained.open("w") as errors:  # no pipes: a worker that is left would hold them
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=errors,
                cwd=ROOT,
                # One that is killed leaves its temporary files behind: they are where we clear up.
                env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}", "TMPDIR": scratch, **(environment or {})},
                start_new_session=True,
            )
        try:
            code = process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            raise BenchProblem(f"not done within {timeout_seconds:g} s") from None
        finally:
            _end(process)
        if code:
            raise BenchProblem((complained.read_text().strip().splitlines() or [f"exit code {code}"])[-1])
        return _parsed(said.read_text())


def _parsed(said: str) -> Figures:
    try:
        found = json.loads(said.strip().splitlines()[-1])
    except (IndexError, ValueError):
        raise BenchProblem(f"no figures, but {said[-200:]!r}") from None
    return {name: float(value) for name, value in found.items()}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With all that it has started: it leads a group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
