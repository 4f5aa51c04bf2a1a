"""A real MariaDB, from Debian's packages as tools/install-mariadb unpacks them."""

import platform
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import asyncmy

from tests.services.account import reachable
from tests.services.database import DatabaseServer

PROJECT: Final = Path(__file__).parents[2]
CACHE: Final = PROJECT / ".cache"
USER, PASSWORD = "waterclock", "clock"
FURNISHED: Final = f"""\
CREATE DATABASE IF NOT EXISTS waterclock;
CREATE USER IF NOT EXISTS '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON *.* TO '{USER}'@'127.0.0.1' WITH GRANT OPTION;
"""
UNSAFE_AND_FAST: Final = (
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--skip-innodb-doublewrite",
)
SMALL: Final = ("--innodb-log-file-size=32M", "--innodb-buffer-pool-size=128M")


class MariadbUnavailable(Exception):
    """It can neither be found nor fetched on this machine; says why."""


class MariadbServer(DatabaseServer):
    """With `fsync=False` it keeps its promises through kill -9, though not through a power cut."""

    def __init__(self, *, fsync: bool = True, options: Sequence[str] = ()) -> None:
        program = installed_program()
        super().__init__("mariadb", fsync=fsync)
        self._options = options
        self._program = reachable(program, CACHE, ("mariadb",), self.folder)
        self._usr = self._program.parents[1]

    def url_of(self, database: str) -> str:
        return f"mysql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    async def execute(self, statement: str) -> None:
        connection = await asyncmy.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, autocommit=True, connect_timeout=30
        )
        try:
            async with connection.cursor() as cursor:
                await cursor.execute(statement)
        finally:
            await connection.ensure_closed()

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        super().stop(with_signal)

    def _drop_statement(self, database: str) -> str:
        return f"DROP DATABASE {database}"

    def _environment(self) -> Mapping[str, str]:
        # Each has a TMPDIR of its own, for one that starts removes the temporary tables of all others there.
        libraries = self._usr / f"lib/{platform.machine()}-linux-gnu"
        return {"LD_LIBRARY_PATH": str(libraries), "TMPDIR": str(self.folder)}

    def _prepare(self) -> None:
        where = (f"--basedir={self._usr}", f"--datadir={self.folder}/data")
        self._run(
            *(self._usr / "bin/mariadb-install-db", "--no-defaults", *where, *SMALL),
            *("--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"),
        )
        (self.folder.parent / "init.sql").write_text(FURNISHED)

    def _command(self) -> Sequence[str | Path]:
        return [
            *(self._program, "--no-defaults", f"--basedir={self._usr}", f"--datadir={self.folder}/data"),
            *("--bind-address=127.0.0.1", f"--port={self.port}", f"--socket={self.folder}/socket"),
            *(f"--pid-file={self.folder}/pid", f"--init-file={self.folder.parent}/init.sql"),
            *("--character-set-server=utf8mb4", "--skip-name-resolve", "--max-connections=300", *SMALL),
            *(() if self.fsync else UNSAFE_AND_FAST),
            *self._options,
        ]

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                return bool(connection.recv(1))  # its greeting: a socket that only listens does not count
        except OSError:
            return False


def installed_program() -> Path:
    subprocess.run([PROJECT / "tools/install-mariadb"], check=True, timeout=300)
    program, why = CACHE / "mariadb/usr/sbin/mariadbd", CACHE / "mariadb.why"
    if not program.exists():
        raise MariadbUnavailable(why.read_text().strip() if why.exists() else "tools/install-mariadb failed")
    return program
