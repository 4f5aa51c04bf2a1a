"""The only module that reads a clock; everything else is handed a moment."""

import time


def wall_us() -> int:
    """This host's idea of now, in microseconds since 1970 UTC; the stores decide whether to believe it."""
    return time.time_ns() // 1_000


def monotonic() -> float:
    """Seconds since boot: for spans, deadlines and leases held locally.

    It goes on while the host sleeps. A lease is promised in the database's time; a clock that stands still while a
    laptop or a virtual machine is suspended would let a program outlive it. One for the whole host, so that a moment
    may be sent from one process to another.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME)
