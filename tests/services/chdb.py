"""A stand-in for a modern ClickHouse server: its engine (chDB) behind as much of its HTTP protocol as we speak."""

from collections.abc import Sequence
from pathlib import Path

from tests.services.clickhouse import PASSWORD, USER, HttpClickhouse


class ChdbServer(HttpClickhouse):
    """The SQL, the formats and the errors are the engine's; HTTP and the password are chdb_server.py's."""

    def __init__(self, python: Path) -> None:
        super().__init__("chdb")
        self._python = python

    def _prepare(self) -> None:
        (self.folder / "data").mkdir()

    def _command(self) -> Sequence[str | Path]:
        program = Path(__file__).with_name("chdb_server.py")
        # -P: a module beside the program is called chdb, too.
        return [self._python, "-P", program, str(self.port), self.folder / "data", USER, PASSWORD]
