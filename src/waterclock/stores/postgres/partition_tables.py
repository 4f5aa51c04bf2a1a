"""The partitions of PostgreSQL's tables as they are, and the statements that make and drop some."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from waterclock.domain.moment import SECOND, Moment
from waterclock.stores.base import Partition

# In the order of locks, each with the time that its rows are divided by.
KEYS: Final[Mapping[str, str]] = {"fires": "fire_at", "attempts": "run_at", "runs": "run_at"}
DAY: Final = 86_400 * SECOND
EVER: Final = -(2**63)
REST: Final = "rest"  # what no other partition has room for
BEFORE: Final = "before"  # what was there before there were partitions
LOCK: Final = 7_722_031_004_471_194  # whoever makes or drops partitions

_FOUND: Final = """SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'runs'::regclass"""
_NAME: Final = re.compile(r"runs_(\d{8}|before)")
_BOUND: Final = re.compile(r"FOR VALUES FROM \((?:MINVALUE|'(-?\d+)')\) TO \('(-?\d+)'\)")


async def partitions(connection: Any) -> Sequence[Partition]:
    """In their order, without the rest. All three tables have the same: they are made and dropped together.

    One that somebody drops just now may still be listed, but has no bounds any more.
    """
    found = await connection.fetch(_FOUND)
    named = [(_NAME.fullmatch(row["name"]), _BOUND.fullmatch(row["bound"] or "")) for row in found]
    return sorted(
        Partition(from_at=int(bound[1] or EVER), to_at=int(bound[2]), name=name[1])
        for name, bound in named
        if name and bound
    )


def begin_of_day(moment: Moment) -> Moment:
    return moment - moment % DAY


def next_partition(present: Sequence[Partition], now: Moment, days: int) -> Partition | None:
    """The next one to be made, or None where there is room for as long again as one of them is wide."""
    end = present[-1].to_at if present else EVER
    return None if end >= now + days * DAY else partition_from(max(end, begin_of_day(now)), days)


def partition_from(from_at: Moment, days: int) -> Partition:
    name = datetime.fromtimestamp(from_at // SECOND, UTC).strftime("%Y%m%d")
    return Partition(from_at=from_at, to_at=from_at + days * DAY, name=name)


def making(partition: Partition) -> Iterator[str]:
    """Made aside and then attached, so that nobody who reads or writes the others waits."""
    span = f"FROM ({partition.from_at}) TO ({partition.to_at})"
    for table in KEYS:
        yield f"CREATE TABLE {table}_{partition.name} (LIKE {table} INCLUDING ALL)"
        yield f"ALTER TABLE {table} ATTACH PARTITION {table}_{partition.name} FOR VALUES {span}"


def newest_in_rest(partition: Partition) -> str:
    """The last moment of the span for which the rest has a row: a partition for it could not be attached."""
    looks = (
        f"SELECT MAX({key}) AS at FROM {table}_{REST} WHERE {key} >= {partition.from_at} AND {key} < {partition.to_at}"  # noqa: S608
        for table, key in KEYS.items()
    )
    return f"SELECT MAX(at) FROM ({' UNION ALL '.join(looks)}) AS found"  # noqa: S608 - our own words and numbers


def detaching(partition: Partition) -> Iterator[str]:
    for table in KEYS:
        yield f"ALTER TABLE {table} DETACH PARTITION {table}_{partition.name}"


def keeping(partition: Partition) -> Iterator[str]:
    """What stays goes to the rest: nothing else has room for its time any more. $1 are the runs' numbers."""
    yield f"INSERT INTO attempts SELECT * FROM attempts_{partition.name} WHERE run_id = ANY($1::bigint[])"  # noqa: S608
    yield f"INSERT INTO runs SELECT * FROM runs_{partition.name} WHERE id = ANY($1::bigint[])"  # noqa: S608


def dropping(partition: Partition) -> str:
    return f"DROP TABLE {', '.join(f'{table}_{partition.name}' for table in KEYS)}"


def staying(partition: Partition) -> str:
    """The runs that must not go: they live, have ended since $1, or are of a chain, which has its own time.

    Each part by an index, so that it can be asked while everybody waits. No node of a flow run is older than it.
    """
    runs = f"runs_{partition.name}"
    return f"""SELECT id FROM {runs} WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
UNION SELECT id FROM {runs} WHERE ended_at >= $1 AND ended_at IS NOT NULL AND namespace <> 'chains'
UNION SELECT r.id FROM (SELECT flow_id FROM chains UNION ALL SELECT flow_id FROM deleted_chains) c
  CROSS JOIN LATERAL (SELECT id FROM flow_runs WHERE flow_id = c.flow_id AND run_at < {partition.to_at}) f
  JOIN flow_nodes n ON n.flow_run_id = f.id JOIN {runs} r ON r.id = n.run_id AND r.run_at = n.run_at
LIMIT $2"""  # noqa: S608 - our own words and numbers


def logs(partition: Partition) -> str:
    """Of the runs that go: $1 is when they must have ended, $2 the attempt after which the page begins."""
    return f"""SELECT a.id, a.log_path FROM attempts_{partition.name} a
CROSS JOIN LATERAL (SELECT 1 FROM runs_{partition.name} r WHERE r.id = a.run_id AND r.run_at = a.run_at
  AND r.ended_at < $1 AND r.namespace <> 'chains' OFFSET 0) gone
WHERE a.id > $2 AND a.log_path IS NOT NULL ORDER BY a.id LIMIT $3"""  # noqa: S608 - our own words and numbers
