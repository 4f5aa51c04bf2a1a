"""What every workload needs: a store of the kind asked for, a server on it, and figures from samples."""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Not /tmp, from which everything else on the machine deletes: ext4 without a journal looks at each inode that was freed
# beside a new file in the last minutes, 0.4 to 0.7 ms of CPU a file here; a data directory lies elsewhere.
PLACE = "/var/tmp"


@contextlib.contextmanager
def store(kind: str, folder: Path) -> Iterator[str]:
    """The URL of a fresh store; a real server with fsync on, started for this run alone."""
    if kind == "sqlite":
        yield f"sqlite:///{folder.absolute()}/waterclock.db"
        return
    sys.path.insert(0, str(ROOT))
    if kind == "postgres":
        from tests.services.postgres import PostgresServer as Server
    else:
        from tests.services.mariadb import MariadbServer as Server  # type: ignore[assignment]
    with Server() as server, server.fresh_database() as url:
        yield url


@contextlib.contextmanager
def data_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="waterclock-bench-", dir=PLACE) as folder:
        yield Path(folder)


@contextlib.contextmanager
def waterclock(role: str, folder: Path, url: str, **settings: object) -> Iterator[str]:
    """A role in a process of its own (`up` for all); what it says once it is ready."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}/src:{ROOT}",  # the tree that this file is in, wherever it was copied
        "WATERCLOCK_DATA_DIR": str(folder),
        "WATERCLOCK_DB": url,
        "WATERCLOCK_PORT": "0",
        **{f"WATERCLOCK_{name.upper()}": str(value) for name, value in settings.items()},
    }
    read, write = os.pipe()
    with (folder / f"{role}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "waterclock.app.launch", role],
            env={**environment, "WATERCLOCK_READY_FD": str(write)},
            pass_fds=[write],
            stdout=log,
            stderr=log,
        )
    os.close(write)
    try:
        with os.fdopen(read) as ready:
            said = ready.readline().strip()
        if not said:
            raise SystemExit(f"the {role} process did not start: {(folder / f'{role}.log').read_text()[-2000:]}")
        yield said
    finally:
        process.terminate()
        process.wait(timeout=30)


def spread(samples: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile and the worst."""
    ranked = sorted(samples)
    return {
        "p50": round(ranked[len(ranked) // 2], 6),
        "p99": round(ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))], 6),
        "max": round(ranked[-1], 6),
    }


def report(workload: str, **figures: Any) -> None:
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "load": round(os.getloadavg()[0], 2)}
    print(json.dumps({"workload": workload, **figures, "machine": machine}), flush=True)
