"""Two servers of one store, the second of which follows the first: real replication, and the places handed over."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.services.database import DatabaseServer, beside_any_loop
from tests.services.mariadb import PASSWORD, USER, MariadbServer
from tests.services.postgres import PostgresServer
from tests.stores.raw import rows

CLERK: Final = "clerk:sec%2Cret"  # one who may not write to a server that is read-only
CLERKS: Final = (
    "CREATE USER 'clerk'@'127.0.0.1' IDENTIFIED BY 'sec,ret'",
    "GRANT ALL ON waterclock.* TO 'clerk'@'127.0.0.1'",
)


class Pair(ABC):
    """`url` names both, the one that follows first."""

    leader: DatabaseServer
    follower: DatabaseServer

    @property
    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    async def hand_over(self) -> None:
        """The leader takes no more writes, and lives; the follower has everything, and takes them."""


class PostgresPair(Pair):
    """What the leader has acknowledged the follower has, too."""

    def __init__(self, leader: PostgresServer, follower: PostgresServer) -> None:
        self.leader, self.follower = leader, follower

    @property
    def url(self) -> str:
        return self.leader.url.replace("@", f"@127.0.0.1:{self.follower.port},")

    async def wait_for_each_other(self) -> None:
        await self.leader.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        await self.leader.execute("SELECT pg_reload_conf()")

    async def hand_over(self) -> None:
        await self.leader.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        await self.leader.execute("SELECT pg_reload_conf()")
        await self.promote()

    async def promote(self) -> None:
        await self.follower.execute("SELECT pg_promote()")


class MariadbPair(Pair):
    def __init__(self, leader: MariadbServer, follower: MariadbServer) -> None:
        self.leader, self.follower = leader, follower

    @property
    def url(self) -> str:
        return self.administrators_url.replace(f"{USER}:{PASSWORD}@", f"{CLERK}@")

    @property
    def administrators_url(self) -> str:
        """Of one who may write everywhere."""
        return f"{self.follower.url},{self.leader.url}"

    async def follow(self) -> None:
        where = f"MASTER_HOST='127.0.0.1', MASTER_PORT={self.leader.port}"
        who = f"MASTER_USER='{USER}', MASTER_PASSWORD='{PASSWORD}'"
        await self.follower.execute(f"CHANGE MASTER TO {where}, {who}, MASTER_USE_GTID=slave_pos")
        await self.follower.execute("START SLAVE")
        for statement in CLERKS:
            await self.leader.execute(statement)
        await self._catch_up()

    async def hand_over(self) -> None:
        await self.leader.execute("SET GLOBAL read_only = 1")
        await self._catch_up()
        await self.follower.execute("STOP SLAVE")
        await self.follower.execute("SET GLOBAL read_only = 0")

    async def _catch_up(self) -> None:
        (leader,) = await rows(self.leader.url, "SELECT @@global.gtid_binlog_pos AS position")
        (follower,) = await rows(self.follower.url, f"SELECT MASTER_GTID_WAIT('{leader['position']}', 30) AS late")
        assert follower["late"] == 0


class PostgresStandby(PostgresServer):
    def __init__(self, leader: PostgresServer) -> None:
        super().__init__(fsync=False)
        self._leader = leader

    def _prepare(self) -> None:
        self._run(
            *(self._bin / "pg_basebackup", "--pgdata=data", "--host=127.0.0.1", f"--port={self._leader.port}"),
            *("--username=postgres", "--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--no-manifest"),
        )

    def _furnish(self) -> None:
        """It has what the leader has."""


@contextmanager
def postgres_pair() -> Iterator[PostgresPair]:
    with PostgresServer(fsync=False) as leader, PostgresStandby(leader) as follower:
        pair = PostgresPair(leader, follower)
        beside_any_loop(pair.wait_for_each_other())
        yield pair


@contextmanager
def mariadb_pair() -> Iterator[MariadbPair]:
    leading = MariadbServer(fsync=False, options=("--server-id=1", "--log-bin"))
    following = MariadbServer(fsync=False, options=("--server-id=2", "--read-only"))
    with leading as leader, following as follower:
        pair = MariadbPair(leader, follower)
        beside_any_loop(pair.follow())
        yield pair
