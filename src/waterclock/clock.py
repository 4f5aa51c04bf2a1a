"""The only module that reads a clock; everything else is handed a moment."""

import time


def wall_us() -> int:
    """This host's idea of now, in microseconds since 1970 UTC; the stores decide whether to believe it."""
    return time.time_ns() // 1_000


def monotonic() -> float:
    """Seconds that only go forward: for spans, deadlines and leases held locally."""
    return time.monotonic()
