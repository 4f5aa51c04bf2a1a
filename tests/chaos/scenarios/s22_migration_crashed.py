"""22: whoever migrates is killed -9 between the statements, of an empty store and of older ones with rows in them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

from tests.chaos.cluster import cluster
from tests.chaos.scenario import STORES, Result, World, scenario
from tests.chaos.tools.migration_crash import crash
from tests.chaos.tools.old_rows import check_rows, put_rows
from tests.chaos.tools.seed import chosen_seed
from tests.stores.schema import tables
from waterclock.stores.dialect import MYSQL
from waterclock.stores.migrations import migrations

EMPTY: Final = 0
BEGINNINGS: Final = (EMPTY, 3, 4)
# Where all of a migration is one transaction each crash begins anew: every so manyth statement, from another one on in
# each run, so that after enough of them each has had its turn.
STRIDE: Final = {"postgres": 10, "sqlite": 2}
BEFORE_STEPS: Final = 5  # statements of MariaDB's that take the lock and read what is done


@scenario(22, "a crash in each step of a migration, between its statements", stores=STORES)
def run(world: World) -> Result:
    seed = chosen_seed()
    crashes = {version: _from(world, version, seed) for version in BEGINNINGS}
    with cluster(world, schedulers=1, workers=1) as c:  # on the last of them, which is whole
        c.call("afterwards")
        c.quiet()
        told = ", ".join(f"{number} from {version:04}" for version, number in crashes.items())
        return c.result(crashes=told, seed=str(seed))


def _from(world: World, version: int, seed: int) -> int:
    """How many crashes it took; what is there in the end is what one who was never disturbed would have made."""
    with _another(world, f"fresh{version}") as fresh, _another(world, f"from{version}", version) as url:
        log = world.folder / f"from-{version}.log"
        before = None
        if version != EMPTY:
            assert not crash(url, log, version=version)
            before = put_rows(url)
        assert not crash(fresh, log)
        points = _points(world.store, version, seed)
        crashes = next(number for number, point in enumerate(points) if not crash(url, log, before=point))
        assert asyncio.run(tables(url)) == asyncio.run(tables(fresh)), f"from {version} another schema came about"
        if before:
            check_rows(url, before)
        return crashes


def _points(store: str, version: int, seed: int) -> Iterator[int]:
    """Before which statement each try is cut off. What MariaDB has done stays done, so that the next goes on there."""
    if store in STRIDE:
        yield from count(seed % STRIDE[store], STRIDE[store])
    statements = sum(len(step.statements) for step in migrations(MYSQL) if step.version > version)
    yield from range(BEFORE_STEPS)
    step = 6 if version == EMPTY else 2  # each statement is followed by its count; of the many only every third
    for number in range(2 * statements // step + len(BEGINNINGS)):  # after the count, or before it: then it is in doubt
        yield BEFORE_STEPS + step + number % 2
    yield from count(BEFORE_STEPS, 10)  # views are made anew by each try, until one comes to the end


@contextmanager
def _another(world: World, name: str, version: int = EMPTY) -> Iterator[str]:
    """An empty store beside the scenario's own, or, for the last beginning, that one."""
    if version == BEGINNINGS[-1]:
        yield world.url
    elif world.server is None:
        yield f"sqlite:///{world.folder}/{name}.db"
    else:
        with world.server.fresh_database() as url:
            yield url
