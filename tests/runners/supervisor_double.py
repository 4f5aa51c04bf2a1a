"""A real supervisor with leases that a file commands: the test double for the store, not for the supervisor.

    python -m tests.runners.supervisor_double STATE_DIR TTL_SECONDS IDLE_SECONDS cgroup|plain

The file STATE_DIR/leases.json holds {"mode": "grant" | "hang" | "fail", "refused": [attempt ids]}; every renewal
is noted in STATE_DIR/renewals, one line each, so that tests can wait for one.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from waterclock.runners.supervisor import daemonise, run_supervisor


class FileLeases:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        rule = json.loads((self._folder / "leases.json").read_text())
        with (self._folder / "renewals").open("a") as notes:
            notes.write(json.dumps([rule["mode"], held]) + "\n")
        if rule["mode"] == "hang":
            await asyncio.sleep(3600)
        if rule["mode"] == "fail":
            raise ConnectionError("no database")
        return frozenset(attempt_id for attempt_id, _ in held) - set(rule["refused"])


def main(state_dir: Path, ttl_seconds: float, idle_seconds: float, groups: str) -> None:
    daemonise(state_dir / "supervisor.log")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    run_supervisor(
        state_dir,
        FileLeases(state_dir),
        ttl_seconds=ttl_seconds,
        idle_seconds=idle_seconds,
        use_cgroups=groups == "cgroup",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
