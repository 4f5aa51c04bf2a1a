"""The database servers of the tests: they serve, die at once, and come back with what was committed."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import psutil
import pytest

from tests.services.database import DatabaseServer
from tests.services.server import is_alive, wait_until


async def run(url: str, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement; all are committed."""
    return await (run_postgres if url.startswith("postgresql:") else run_mariadb)(url, statements)


async def run_postgres(url: str, statements: tuple[str, ...]) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        return [tuple(row) for row in await connection.fetch(statements[-1])]
    finally:
        await connection.close()


async def run_mariadb(url: str, statements: tuple[str, ...]) -> list[tuple[object, ...]]:
    parts = urlsplit(url)
    where = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
    connection = await asyncmy.connect(**where, db=parts.path[1:], autocommit=True)
    try:
        async with connection.cursor() as cursor:
            for statement in statements:
                await cursor.execute(statement)
            return list(await cursor.fetchall())
    finally:
        await connection.ensure_closed()


@pytest.fixture(params=["own_postgres", "own_mariadb"])
def own_server(request: pytest.FixtureRequest) -> DatabaseServer:
    server = request.getfixturevalue(request.param)
    assert isinstance(server, DatabaseServer)
    return server


@pytest.fixture(params=["postgres_url", "mariadb_url"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


async def test_committed_rows_survive_kill_9_of_all_its_processes(own_server: DatabaseServer) -> None:
    await run(own_server.url, "CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
    family = [psutil.Process(own_server.pid), *psutil.Process(own_server.pid).children(recursive=True)]
    own_server.kill()
    assert not any(map(is_alive, family))
    own_server.restart()
    assert await run(own_server.url, "SELECT n FROM t ORDER BY n") == [(1,), (2,)]


async def test_a_restart_keeps_port_and_rows(own_server: DatabaseServer) -> None:
    before = own_server.url
    await run(own_server.url, "CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    own_server.restart()
    assert own_server.url == before
    assert await run(own_server.url, "SELECT n FROM t") == [(1,)]


async def test_a_fresh_database_is_empty_and_speaks_unicode(url: str) -> None:
    rows = await run(url, "CREATE TABLE t (s VARCHAR(20))", "INSERT INTO t VALUES ('물시계 ⏳😀')", "SELECT s FROM t")
    assert rows == [("물시계 ⏳😀",)]


async def test_the_next_fresh_database_is_empty_again(url: str) -> None:
    assert await run(url, "CREATE TABLE t (n INTEGER)", "SELECT n FROM t") == []


async def test_rows_that_another_holds_can_be_skipped(url: str) -> None:
    assert await run(url, "CREATE TABLE t (n INTEGER)", "SELECT n FROM t FOR UPDATE SKIP LOCKED") == []


async def test_every_store_has_a_fresh_url(store_url: str) -> None:
    assert store_url.startswith(("sqlite:////", "postgresql://", "mysql://"))


def test_a_killed_test_run_leaves_no_server_behind(tmp_path: Path) -> None:
    script = tmp_path / "leaves.py"
    script.write_text(
        "from tests.services.postgres import PostgresServer\n"
        "server = PostgresServer(fsync=False)\n"
        "server.start()\n"
        "print(server.pid, server.folder.parent, flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": "."}
    ) as run_of_tests:
        assert run_of_tests.stdout is not None
        pid, folder = run_of_tests.stdout.readline().split()
        server = psutil.Process(int(pid))
        family = [server, *server.children(recursive=True)]
        run_of_tests.kill()
    wait_until(lambda: not any(map(is_alive, family)), "the orphaned server to end")
    subprocess.run(["rm", "-rf", folder], check=True)
