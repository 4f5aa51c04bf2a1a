"""Rows of a store that an earlier version made, and whether they are all there after a migration."""

import asyncio
from collections.abc import Mapping
from typing import Final

from tests.stores.raw import Rows, rows

# One in each table that later steps change, as the version 0003 knew them. F is a moment. The run was stopped: of one
# that succeeded the checker would want to see what its program wrote.
INSERTS: Final = (
    "INSERT INTO jobs (id, org_id, namespace, name, owner, kind, version, tags, created_at, updated_at)"
    " VALUES (901, 1, 'glue', 'old', 'ann', 'python', 1, '{}', F, F)",
    "INSERT INTO job_versions (job_id, version, org_id, spec, definition, created_by, created_at)"
    " VALUES (901, 1, 1, '{}', '{}', 'ann', F)",
    "INSERT INTO triggers (id, org_id, namespace, name, owner, type, state, misfire, version, generation, definition,"
    " tags, created_at, updated_at)"
    " VALUES (902, 1, 'glue', 'old', 'ann', 'SCHEDULED', 'STOPPED', '{}', 3, 1, '{}', '{}', F, F)",
    "INSERT INTO fires (id, org_id, trigger_id, trigger_name, generation, fire_at, outcome, first_at, last_at,"
    " instants, created_at) VALUES (903, 1, 902, 'old', 1, F, 'FIRED', F, F, 1, F)",
    "INSERT INTO runs (id, run_at, org_id, namespace, wire_id, job_id, job_name, job_version, kind, owner,"
    " requested_by, fire_id, action_no, has_next, state, queue, labels, role, arguments, settings, attempts, retries,"
    " retry_delay_us, created_at, ended_at, updated_at)"
    " VALUES (904, F, 1, 'glue', 'jr_old', 901, 'old', 1, 'python', 'ann', 'ann',"
    " 903, 0, 0, 'STOPPED', 'default', '', '', '{}', '{}', 1, 0, 0, F, F, F)",
    "INSERT INTO attempts (id, run_at, run_id, org_id, namespace, job_id, number, wire_id, state, fence, due_at, queue,"
    " labels, role, created_at, ended_at, updated_at) VALUES (905, F, 904, 1, 'glue', 901, 0, 'jr_old', 'STOPPED', 1,"
    " F, 'default', '', '', F, F, F)",
    "INSERT INTO messages (id, org_id, kind, severity, subject, body, created_at, routed_at)"
    " VALUES (906, 1, 'run.failed', 'error', 'old', 'old', F, F)",
    "INSERT INTO nodes (id, host, name, duties, role, labels, slots, version, pid, skew_us, started_at, heartbeat_at,"
    " stopped_at) VALUES ('old', 'old', 'old', 'worker', 'main', '', 4, '0', 1, 0, F, F, F)",
)
TABLES: Final = tuple(statement.split()[2] for statement in INSERTS)
MOMENT: Final = "1700000000000000"


def put_rows(url: str) -> Mapping[str, Rows]:
    """All that is there then."""
    for statement in INSERTS:
        asyncio.run(rows(url, statement.replace(" F", f" {MOMENT}")))
    return _present(url)


def check_rows(url: str, before: Mapping[str, Rows]) -> None:
    """Every column that was there has its value still; there may be more of them."""
    present = _present(url)
    for table, kept in before.items():
        found = [{column: row[column] for column in kept[0]} for row in present[table]]
        assert found == kept, f"{table}: {kept} became {found}"


def _present(url: str) -> Mapping[str, Rows]:
    return {table: asyncio.run(rows(url, f"SELECT * FROM {table}")) for table in TABLES}
