"""A tool run to its end: what it says goes to the run's log, and the end of it is kept, for it says why it failed."""

import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KEPT_BYTES: Final = 256 * 1024
PATIENCE_SECONDS: Final = 5.0  # of one that is told to stop
_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    exit_code: int
    lines: tuple[str, ...]  # the last ones, without those that are blank


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], quiet: bool = False) -> Ended:
    """`quiet`: only its end is kept. OSError where there is no such tool."""
    process = subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        said = _followed(process, quiet=quiet)
    except BaseException:
        _end(process)
        raise
    return Ended(exit_code=process.returncode, lines=tuple(line for line in said.splitlines() if line.strip()))


def _followed(process: "subprocess.Popen[bytes]", *, quiet: bool) -> str:
    """Until it has ended, not until its output is closed: what it leaves running may hold that for ever."""
    assert process.stdout
    output, kept, ended = process.stdout.fileno(), b"", os.pidfd_open(process.pid)
    try:
        while True:
            ready = _ready(output, ended)
            if output not in ready:
                break
            chunk = os.read(output, _CHUNK)
            if not chunk:
                break
            kept = (kept + chunk)[-KEPT_BYTES:]
            if not quiet:
                _write(chunk)
    finally:
        os.close(ended)
    process.wait()
    process.stdout.close()
    return kept.decode(errors="replace")


def _ready(*fds: int) -> set[int]:
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return {fd for fd, _ in poll.poll()}


def _write(chunk: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """We are stopped ourselves: it has a moment to put its own things in order."""
    process.terminate()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
