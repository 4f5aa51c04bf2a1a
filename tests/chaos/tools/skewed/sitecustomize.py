"""For processes with this folder on their PYTHONPATH: their host's clock is CHAOS_SKEW seconds from the true time.

The programs that they run are not among them: what runs those has an environment of its own.
"""

import os
import time

_REAL, _REAL_NS, _SECONDS = time.time, time.time_ns, float(os.environ["CHAOS_SKEW"])

time.time = lambda: _REAL() + _SECONDS
time.time_ns = lambda: _REAL_NS() + round(_SECONDS * 1_000_000_000)
