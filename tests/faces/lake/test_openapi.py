"""/openapi.json says what the lake face serves: every route, and nothing else."""

import re
from typing import Any

import httpx

from tests.faces.api.serving import Served
from tests.faces.lake.samples import refused
from waterclock.domain.access import Role
from waterclock.domain.lake import LakeKind
from waterclock.domain.lake_sync import SyncKind
from waterclock.faces.lake import sync_schemas, syncs
from waterclock.faces.lake.definition import OPTIONS, SCHEDULE
from waterclock.faces.lake.job_schemas import SCHEDULES, TASKS
from waterclock.faces.lake.kinds import FIELDS
from waterclock.faces.lake.openapi import OPERATIONS, PATH, document
from waterclock.faces.lake.routes import TABLE
from waterclock.faces.lake.schemas import SCHEMAS

LATER = {"git_clone_info", "query", "outputs"}  # are read, too
LATER_SYNC = {"source_id"}


def test_every_route_is_described_and_no_other() -> None:
    assert OPERATIONS.keys() == {(method, path) for method, path, _ in TABLE}
    described = {(method.upper(), path) for path, methods in document()["paths"].items() for method in methods}
    assert described == {(method, f"/lake{path}") for method, path, _ in TABLE}


def test_every_schema_that_is_named_exists_and_every_other_is_named() -> None:
    named = set(re.findall(r"#/components/schemas/(\w+)", str(document())))
    assert named == SCHEMAS.keys()


def test_operations_have_names_of_their_own() -> None:
    names = [each["operationId"] for methods in document()["paths"].values() for each in methods.values()]
    assert len(set(names)) == len(names) == len(TABLE)


def test_every_field_that_is_read_is_described() -> None:
    for kind in LakeKind:
        assert TASKS[kind].keys() == FIELDS[kind].keys() - LATER
    for sync in SyncKind:
        assert sync_schemas.TASKS[sync].keys() == syncs.FIELDS[sync].keys() - LATER_SYNC
        assert set(syncs.SHOWN) >= sync_schemas.TASKS[sync].keys()
    described: Any = SCHEMAS["NewJob"]["properties"]["job"]["oneOf"]
    assert all(each["properties"].keys() > OPTIONS.keys() for each in described)
    names = [each["properties"]["class_name"] for each in described]
    assert [name for each in names for name in each.get("enum", [each.get("const")])] == [
        *("java_job", "sql_job", "python_job", "sync_db_job", "jdbc_job", "generic_jdbc_job", "sync_service_job"),
        *("sync_file_job", "amazon_s3_job", "google_sheets_job"),
    ]
    fields = {name for given, _ in SCHEDULES.values() for name in given}
    assert fields | {"class_name", "timezone"} == SCHEDULE.keys()


async def test_every_caller_may_read_it(server: Served, lake: httpx.AsyncClient) -> None:
    shown = await lake.get(PATH)
    assert (shown.status_code, shown.json()["openapi"]) == (200, "3.1.0")
    async with server.as_user(await server.token_of("w", Role.WORKER)) as worker:
        assert (await worker.get(f"{server.url}{PATH}")).json() == shown.json()
    assert refused(await lake.post(PATH), 405, "method_not_allowed") == "POST is not served here, only GET"
