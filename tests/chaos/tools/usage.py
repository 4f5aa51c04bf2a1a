"""What processes use of the host, as the kernel counts it."""

from contextlib import suppress
from pathlib import Path


def name_of(pid: int) -> str:
    """As ps shows it: `wc-supervisor`, `wc-keeper`; empty where there is none."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def resident_bytes(pid: int) -> int:
    return _status(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """The most that it ever had resident."""
    return _status(pid, "VmHWM")


def mebibytes(count: float) -> str:
    return f"{count / 2**20:.0f} MiB"


def _status(pid: int, field: str) -> int:
    with suppress(OSError), open(f"/proc/{pid}/status") as lines:
        for line in lines:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return 0
