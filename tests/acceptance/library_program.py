"""A program of a user's, to be killed: a scheduler in the background, and jobs that leave lines of evidence.

`python -m tests.acceptance.library_program URL LEASE_SECONDS JOBS`: JOBS is a file with a JSON list of what `add_job`
is to be told. It says `ready`, and lives until its standard input ends.
"""

import json
import logging
import os
import sys
import time
from datetime import UTC
from pathlib import Path
from typing import Final

from waterclock.schedulers.background import BackgroundScheduler

JOB: Final = "tests.acceptance.library_program:leave_lines"


def leave_lines(evidence: str, work: str, seconds: float = 0, gate: str = "") -> str:
    """One line at its start and one at its end; the result, which the ledger keeps, tells this call from all others."""
    call = os.urandom(8).hex()
    _append(evidence, "start", work, call)
    time.sleep(seconds)
    while gate and not os.path.exists(gate):
        time.sleep(0.01)
    _append(evidence, "end", work, call)
    return call


def _append(evidence: str, event: str, work: str, call: str) -> None:
    line = {"event": event, "work": work, "call": call, "pid": os.getpid(), "at": time.time()}
    file = os.open(evidence, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(file, json.dumps(line).encode() + b"\n")
    os.close(file)


def main(url: str, lease_seconds: str, jobs: str) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    store = {"type": "postgresql", "url": url, "lease_seconds": float(lease_seconds)}
    scheduler = BackgroundScheduler(jobstores={"default": store}, timezone=UTC)
    for job in json.loads(Path(jobs).read_text()):
        scheduler.add_job(JOB, **job)
    scheduler.start()
    print("ready", flush=True)
    sys.stdin.read()
    scheduler.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
