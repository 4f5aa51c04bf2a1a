"""The same stories on PostgreSQL: few of them, for the statements that SQLite does not see."""

from tests.chaos.simulation.play import Opened
from tests.chaos.simulation.stores import PostgresStore, Store
from tests.chaos.simulation.timeline import SimulatedLoop, Timeline
from tests.services.database import beside_any_loop
from waterclock.stores.opening import database_from_url


def served(url: str) -> Opened:
    """Migrated now; emptied for each story."""
    beside_any_loop(_migrate(url))

    def opened(timeline: Timeline, loop: SimulatedLoop) -> Store:
        store = PostgresStore(database_from_url(url), url, timeline, loop)
        loop.run_until_complete(store.open())
        return store

    return opened


async def _migrate(url: str) -> None:
    database = database_from_url(url)
    await database.open()
    try:
        await database.migrate()
    finally:
        await database.close()
