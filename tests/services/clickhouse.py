"""A real ClickHouse, 18.16: from Debian's packages, unpacked under .cache. It is old, and many of them still serve."""

import platform
import signal
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.services.components import component
from tests.services.loopback import answer_of
from tests.services.server import Server

USER: Final = "waterclock"
PASSWORD: Final = "a password of the tests"
CONFIG: Final = """\
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{port}</http_port>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <user_files_path>{folder}/files/</user_files_path>
  <format_schema_path>{folder}/schemas/</format_schema_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>UTC</timezone>
  <mark_cache_size>67108864</mark_cache_size>
</yandex>
"""
USERS: Final = f"""\
<yandex>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <{USER}>
      <password>{PASSWORD}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </{USER}>
  </users>
</yandex>
"""


class QueryRefused(Exception):
    """What the server answered instead of rows."""


class HttpClickhouse(Server):
    """Whatever speaks ClickHouse's HTTP protocol with a user and a password."""

    user = USER
    password = PASSWORD

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def query(self, sql: str, *, user: str = USER, password: str = PASSWORD) -> str:
        """The answer as the server wrote it: tab separated where the statement names no format."""
        return self._post(self.url, sql.encode(), user, password)

    def insert(self, sql: str, rows: bytes) -> None:
        """The statement in the URL, the rows in the body, as writers send them."""
        self._post(f"{self.url}/?{urllib.parse.urlencode({'query': sql})}", rows, USER, PASSWORD)

    def _post(self, url: str, body: bytes, user: str, password: str) -> str:
        headers = {"X-ClickHouse-User": user, "X-ClickHouse-Key": password}
        try:
            return answer_of(urllib.request.Request(url, data=body, headers=headers)).decode()
        except urllib.error.HTTPError as refusal:
            raise QueryRefused(f"{refusal.code}: {refusal.read().decode(errors='replace')}") from None

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        super().stop(with_signal)

    def _as_its_user(self, *argv: str | Path) -> list[str]:
        return list(map(str, argv))

    def _is_ready(self) -> bool:
        try:
            return self.query("SELECT 1") == "1\n"
        except OSError:
            return False


class ClickhouseServer(HttpClickhouse):
    def __init__(self) -> None:
        self._program = component("clickhouse") / "usr/sbin/clickhouse-server"
        super().__init__("clickhouse")

    def _environment(self) -> Mapping[str, str]:
        tree, machine = self._program.parents[2], f"{platform.machine()}-linux-gnu"
        return {"LD_LIBRARY_PATH": f"{tree}/usr/lib/{machine}:{tree}/lib/{machine}"}

    def _prepare(self) -> None:
        (self.folder / "config.xml").write_text(CONFIG.format(port=self.port, folder=self.folder))
        (self.folder / "users.xml").write_text(USERS)

    def _command(self) -> Sequence[str | Path]:
        return [self._program, f"--config-file={self.folder}/config.xml"]
