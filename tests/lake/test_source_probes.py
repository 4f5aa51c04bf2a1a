"""Sources asked through a worker, from the REST face and back: what is there, and why one does not answer."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.server import running
from tests.services.postgres import PostgresServer
from tests.services.sftp import SftpServer

pytestmark = pytest.mark.heavy

PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def lake(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("lake")
    with sqlite3.connect(folder / "shop.db") as connection:
        connection.execute("create table people (id integer primary key, name text)")
        connection.executemany("insert into people values (?, ?)", [(1, "Ann"), (2, None), (3, "Bình")])
    connection.close()
    settings: dict[str, Any] = {"sync_python": lake_python, "lake_roots": folder, "lake_private": "true"}
    with (
        running(tmp_path_factory.mktemp("probes"), auth="none", **settings) as server,
        httpx.Client(base_url=server.address, timeout=PATIENCE_SECONDS) as client,
    ):
        yield client


def made(lake: httpx.Client, name: str, kind: str, **config: Any) -> str:
    answer = lake.post("/lake/source/create", json={"name": name, "kind": kind, "config": config})
    assert answer.status_code == 200, answer.text
    return f"/lake/source/{answer.json()['source']['source_id']}"


def test_a_database_is_tried_listed_and_looked_into(lake: httpx.Client) -> None:
    shop = made(lake, "shop", "sqlite", path="shop.db")
    tried = lake.post(f"{shop}/test").json()
    assert (tried["success"], "SQLite" in tried["message"]) == (True, True), tried
    assert [name.rpartition(".")[2] for name in lake.get(f"{shop}/tables").json()["tables"]] == ["people"]
    previewed = lake.post(f"{shop}/preview", json={"table_name": "people", "limit": 2})
    assert previewed.status_code == 200, previewed.text
    shown = previewed.json()
    assert [column["name"] for column in shown["columns"]] == ["id", "name"]
    assert shown["rows"] == [[1, "Ann"], [2, None]]


def test_a_worker_logs_in_with_what_is_sealed_and_nobody_is_shown(lake: httpx.Client, sftp: SftpServer) -> None:
    folder = sftp.files / "probes"
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text("id,name\n1,Ann\n")
    server = {"host": "127.0.0.1", "port": sftp.port, "user": sftp.user, "host_key": sftp.host_key}
    by_password = made(lake, "by password", "sftp", **server, password=sftp.password)
    by_key = made(lake, "by key", "sftp", **server, private_key=sftp.private_key)
    for path in (by_password, by_key):
        shown = lake.post(f"{path}/preview", json={"path": "/probes/*.csv"})
        assert (shown.status_code, shown.json().get("rows")) == (200, [[1, "Ann"]]), shown.text
    told = lake.post("/lake/source/list").text
    assert sftp.password not in told
    assert "PRIVATE KEY" not in told


def test_why_it_cannot_be_read_is_told_without_its_password(
    lake: httpx.Client, postgres_server: PostgresServer
) -> None:
    with postgres_server.fresh_database() as url:
        place = httpx.URL(url)
        where = {"host": place.host, "port": place.port, "database": place.path.strip("/")}
        wrong = made(lake, "wrong", "postgresql", **where, user="nobody_such", password="hunter22")
        nowhere = made(lake, "nowhere", "postgresql", **(where | {"port": 1}), user="a", password="hunter22")
        missing = made(lake, "missing", "sqlite", path="nothing.db")
        for path, words in ((wrong, "nobody_such"), (nowhere, "1"), (missing, "nothing.db")):
            refused = lake.post(f"{path}/test")
            assert (refused.status_code, refused.json()["reason"]) == (400, "not_allowed"), refused.text
            assert words in refused.json()["message"]
            assert "hunter22" not in refused.text
