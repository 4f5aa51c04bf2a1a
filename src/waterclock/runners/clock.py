"""The one clock of the runners: monotonic, one for every process of this host, counting while the host sleeps.

A lease is promised in the database's time. A clock that stands still while a laptop or a virtual machine is suspended
would let a program outlive its lease, so this is CLOCK_BOOTTIME, not CLOCK_MONOTONIC. Being host-wide, a moment may be
sent from one process to another.
"""

import time


def now() -> float:
    """Seconds since boot."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
