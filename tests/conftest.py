"""Fixtures that everybody shares: real databases and a real S3 server, started once and only when asked for."""

import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.services.mariadb import MariadbServer, MariadbUnavailable
from tests.services.postgres import PostgresServer
from tests.services.s3 import S3Server


def pytest_configure() -> None:
    # pytest-xdist's processes ignore an interrupt, and what they start would, too: no test of Ctrl-C could pass.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # How long something takes on a busy machine is no fault of it.
    hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.load_profile("busy")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Shared by all tests: never stop or kill it; a test of crashes starts its own (`own_postgres`)."""
    with PostgresServer(fsync=False) as server:
        yield server


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariadbServer]:
    """Shared by all tests: never stop or kill it; a test of crashes starts its own (`own_mariadb`)."""
    with mariadb(fsync=False) as server:
        yield server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    with S3Server() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """For this test alone, with fsync: to be killed and restarted."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def own_mariadb() -> Iterator[MariadbServer]:
    """For this test alone, with fsync: to be killed and restarted."""
    with mariadb(fsync=True) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A fresh, empty PostgreSQL database."""
    with postgres_server.fresh_database() as url:
        yield url


@pytest.fixture
def mariadb_url(mariadb_server: MariadbServer) -> Iterator[str]:
    """A fresh, empty MariaDB database."""
    with mariadb_server.fresh_database() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """An SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path}/wc.db"


@pytest.fixture
def s3(s3_server: S3Server) -> S3Server:
    """An S3 server with credentials; make a bucket of your own in it."""
    return s3_server


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def store_url(request: pytest.FixtureRequest) -> str:
    """A fresh, empty store of every kind: the test runs once on each."""
    return str(request.getfixturevalue(f"{request.param}_url"))


def mariadb(*, fsync: bool) -> MariadbServer:
    try:
        return MariadbServer(fsync=fsync)
    except MariadbUnavailable as why:
        pytest.skip(str(why))
