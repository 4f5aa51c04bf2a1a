"""A ticker in the hand of a test."""

import time
from collections.abc import Callable

from tests.faces.http.served import DEADLINE, Served
from waterclock.stores.ops.firing import fire_due


def fire_until(served: Served, happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not happened():
        assert time.monotonic() < deadline, "nothing was due"
        served.run(served.database.write(fire_due, limit=100, rules={"glue": served.rules.fire}))
        time.sleep(0.02)
