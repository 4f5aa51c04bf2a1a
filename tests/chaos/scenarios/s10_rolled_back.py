"""10: the database rolls transactions back, for a deadlock, a conflict or a lock that took too long; SQLite is busy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import STORES, Result, World, scenario
from tests.chaos.tools.callers import calling
from tests.chaos.tools.faulty_proxy import NO_FAULTS, Chances, FaultyProxy, faulty_proxy
from tests.chaos.tools.seed import chosen_seed
from tests.chaos.tools.sqlite_hog import sqlite_hog
from waterclock.chaos.checker import Answer

CODES: Final = {"postgres": ("40P01", "40001"), "mariadb": ("1213/40001", "1205/HY000")}
CHANCE: Final = 0.08  # of each statement
SECONDS: Final = 20.0


@scenario(10, "deadlock, serialization failure, SQLITE_BUSY injected", stores=STORES)
def run(world: World) -> Result:
    return _of_sqlite(world) if world.store == "sqlite" else _of_server(world)


def _of_server(world: World) -> Result:
    seed = chosen_seed()
    with faulty_proxy(world.url, seed=seed) as proxy, cluster(world, schedulers=2, workers=2, db=proxy.url) as c:
        with _working(c), _refusing(proxy, CODES[world.store]):
            time.sleep(SECONDS * world.seconds_scale)
        refused = proxy.done["statements refused"]
        assert refused > 100, f"only {refused} statements were refused"
        wrong = [process for process in c.all if "Traceback" in process.errors()]
        assert not wrong, f"{wrong[0]!r} is not used to this:\n{wrong[0].errors()[-4000:]}"
        return _ended(c, seed=seed, statements_refused=refused)


def _of_sqlite(world: World) -> Result:
    seed = chosen_seed()
    with cluster(world, schedulers=2, workers=2) as c:
        with _working(c), sqlite_hog(world.url, seed=seed) as hog:
            time.sleep(SECONDS * world.seconds_scale)
        assert hog.held_too_long, "the file was never held for longer than anybody waits"
        return _ended(c, seed=seed, locks=hog.held, of_them_longer_than_we_wait=hog.held_too_long)


@contextmanager
def _working(c: Cluster) -> Iterator[None]:
    for number in range(8):
        c.every(f"w{number}", 2, offset=number % 2)
    with calling(c):
        yield


@contextmanager
def _refusing(proxy: FaultyProxy, codes: tuple[str, ...]) -> Iterator[None]:
    proxy.chances = Chances(refuse=CHANCE, codes=codes)
    try:
        yield
    finally:
        proxy.chances = NO_FAULTS


def _ended(c: Cluster, **notes: object) -> Result:
    c.stop_triggers()
    c.quiet()
    failed = {work: answer for work, answer in c.calls.items() if answer is not Answer.ACKNOWLEDGED}
    assert not failed, f"what was rolled back was not tried again: {failed}"
    return c.result(c.history(worker_losses=False), acknowledged=len(c.calls), **notes)
