"""The database of the scheduler that chains came from: its DDL as its authors wrote it, and a hand to fill it."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from urllib.parse import urlsplit

import asyncmy
from asyncmy.cursors import DictCursor

# Word for word from the seed, doubled `not null` and all. It takes for granted that there is a database schedulerDB.
DDL: Final = """\
BEGIN;
create table schedulerDB.deptable
(
	id bigint(20) unsigned not null auto_increment
		primary key,
	jobchainid bigint(20) unsigned not null,
	env varchar(1024) default '/usr/bin/python3' null,
	command varchar(200) not null,
	entry_time timestamp default CURRENT_TIMESTAMP null on update CURRENT_TIMESTAMP,
	`desc` varchar(50) null,
	ottime int not null,
	constraint id_UNIQUE
		unique (id)
);
create table schedulerDB.jobchain_table
(
	id bigint(20) unsigned not null auto_increment
		primary key,
	job_desc varchar(50) null,
	total_stpes int(6) unsigned not null,
	entry_time timestamp default CURRENT_TIMESTAMP not null on update CURRENT_TIMESTAMP,
	timestr varchar(30) not null,
	dep_ot float not null,
	switch varchar(5) default 'ON' not null,
	main_flag int default '1' not null,
	BKP_flag int default '0' not null,
	tag varchar(45) null,
	subtag varchar(45) null
);


--
-- Create model Jobtable
--
create table schedulerDB.jobtable
(
	id bigint(20) unsigned not null auto_increment
		primary key,
	env varchar(1024) default '/usr/bin/python3' null,
	job_chain_id bigint(20) unsigned not null,
	job_desc varchar(45) null,
	command varchar(200) not null,
	step_lvl int(6) not null,
	ottime varchar(30) not null,
	entry_time timestamp default CURRENT_TIMESTAMP not null on update CURRENT_TIMESTAMP
);

--
-- Add field jobchainid to deptable
--

USE schedulerDB;
ALTER TABLE `jobtable`
ADD FOREIGN KEY (`job_chain_id`)
REFERENCES `jobchain_table` (`id`)
ON DELETE CASCADE;
ALTER TABLE `deptable`
ADD FOREIGN KEY (`jobchainid`)
REFERENCES `jobchain_table` (`id`)
ON DELETE CASCADE;
COMMIT;

BEGIN;
create table schedulerDB.jobchain_lst_run
(
	id bigint(20) unsigned not null auto_increment
		primary key,
	jobchain_id bigint(20) unsigned not null not null,
	last_run_start timestamp null,
	last_run_end timestamp null,
	pid int null,
	status varchar(20) default 'RUNNING...' null,
	dep_pass_ts timestamp null
);


--
-- Create model RealtimeStatus_MAIN
--
CREATE TABLE schedulerDB.realtime_status (
  `id` bigint(20) unsigned not null AUTO_INCREMENT,
  `name` varchar(45) DEFAULT NULL,
  `timequeuesize` int(11) DEFAULT '0',
  `replyqueuesize` int(11) DEFAULT '0',
  `debugmode` varchar(45) NOT NULL DEFAULT 'debug',
  `index_last_ping_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `pid_index` int(11) DEFAULT NULL,
  `pid_timer` int(11) DEFAULT NULL,
  `pid_sqlfetcher` int(11) DEFAULT NULL,
  `pid_receiver` int(11) DEFAULT NULL,
  `job_last_ping_time` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (`id`)
);
--
-- Create model Schedulermessage_MAIN
--

CREATE TABLE schedulerDB.schedulerMessage (
  `id` bigint(20) unsigned not null AUTO_INCREMENT,
  `run_id` bigint(20) DEFAULT NULL,
  `msg` varchar(5000) DEFAULT NULL,
  `entry_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`)
);
commit;
"""


class OldDatabase:
    """At `url`; its name may be another than schedulerDB, where many share one server."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url)
        self.name = parts.path.removeprefix("/")
        self._where = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}

    def create_tables(self) -> None:
        """As they stand but for the name: nothing else had to be changed for MariaDB."""
        statements = DDL.replace("schedulerDB", self.name).split(";")
        self.run(*(statement for statement in statements if statement.strip()))

    def chain(
        self, *, gates: Sequence[Mapping[str, Any]] = (), steps: Sequence[Mapping[str, Any]] = (), **row: Any
    ) -> int:
        """What is not said is as the tables' own defaults are, or plain."""
        filled = {"timestr": "0 4 1 1 *", "dep_ot": 1, "total_stpes": len(steps), **row}
        number = self._insert("jobchain_table", filled)
        for gate in gates:
            self._insert("deptable", {"jobchainid": number, "ottime": 1, **gate})
        for step in steps:
            self._insert("jobtable", {"job_chain_id": number, "step_lvl": 1, "ottime": "1", **step})
        return number

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.run(f"SELECT * FROM {self.name}.{table} ORDER BY id")

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        columns = ", ".join(f"`{column}`" for column in row)
        values = ", ".join("%s" for _ in row)
        found = self.run(f"INSERT INTO {table} ({columns}) VALUES ({values}) RETURNING id", given=tuple(row.values()))
        return int(found[0]["id"])

    def run(self, *statements: str, given: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """What the last of them answers."""
        with ThreadPoolExecutor(max_workers=1) as thread:  # the test may have a loop of its own
            return thread.submit(asyncio.run, self._run(statements, given)).result()

    async def _run(self, statements: Sequence[str], given: Sequence[Any]) -> list[dict[str, Any]]:
        connection = await asyncmy.connect(
            **self._where, db=self.name, charset="utf8mb4", autocommit=True, cursor_cls=DictCursor
        )
        try:
            async with connection.cursor() as cursor:
                for statement in statements:
                    await cursor.execute(statement, given or None)
                return list(await cursor.fetchall())
        finally:
            await connection.ensure_closed()
