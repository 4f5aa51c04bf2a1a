"""What the acceptance tests share: stores that keep their promises over a crash."""

from collections.abc import Iterator

import pytest

from tests.services.mariadb import MariadbServer
from tests.services.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def durable_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A store that keeps its promises over a crash: fsync on. Empty: SQLite in the data directory."""
    if request.param == "sqlite":
        yield ""
        return
    server: PostgresServer | MariadbServer = request.getfixturevalue(f"own_{request.param}")
    with server.fresh_database() as url:
        yield url
