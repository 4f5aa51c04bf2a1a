"""The sources that a lake job names, on every store: found by name or number, of a kind that fits, or refused."""

import asyncio
from typing import Any

import pytest

from tests.stores.laking import PLACE, Laking, draft
from tests.stores.store import Store
from waterclock.domain.errors import InvalidInput, NotAllowed, WaterclockError
from waterclock.domain.lake import LakeDraft, LakeJob, LakeKind
from waterclock.domain.lake_sync import SourceKind, SyncKind
from waterclock.stores.ops.jobs import get_job
from waterclock.stores.ops.lake import create_lake_jobs
from waterclock.stores.ops.lake_sources import delete_source

MINE: dict[str, Any] = {"org_id": 1, "owner": "ann", "creator": "ann"}


@pytest.fixture
async def laking(shared: Store) -> Laking:
    return Laking(await shared.open())


def syncing(source: str | int, *destinations: dict[str, Any], kind: SyncKind = SyncKind.DB) -> LakeDraft:
    return draft(kind=kind, task={"source": source, "table_name": "t", "destinations": destinations})


def into(type_: str, source: str | int) -> dict[str, Any]:
    return {"type": type_, "config": {"source": source, "table_name": "t"}}


async def task_of(laking: Laking, job: LakeJob) -> dict[str, Any]:
    found = await laking.database.read(get_job, **PLACE, name=str(job.id))
    assert found
    assert isinstance(found.spec.call, dict)
    return found.spec.call


async def test_a_task_has_the_numbers_of_its_sources_and_the_definition_what_was_said(laking: Laking) -> None:
    shop, mart = await laking.source(), await laking.source("mart", SourceKind.MYSQL)
    made = await laking.lake_job(syncing("shop", into("mysql", "mart"), into("jdbc", shop)))
    task = await task_of(laking, made)
    assert (task["source"], task["source_id"]) == (shop, shop)
    assert [each["config"]["source"] for each in task["destinations"]] == [mart, shop]
    assert made.definition["source"] == "shop"
    changed = await laking.change(made, syncing(mart))
    assert (await task_of(laking, changed))["source_id"] == mart
    query = {"query_info": {"query": "select 1", "outputs": [into("postgresql", "shop")]}}
    asked = await task_of(laking, await laking.lake_job(draft(kind=LakeKind.SQL, task=query)))
    assert asked["query_info"]["outputs"][0]["config"]["source"] == shop
    assert "source_id" not in asked


async def test_what_is_not_there_or_does_not_fit_is_refused_by_its_place(laking: Laking) -> None:
    await laking.source()
    await laking.source("crm", SourceKind.REST)
    theirs = await laking.source("theirs", org_id=2)
    for given, reason in (
        (syncing("nobody"), "source: there is no source 'nobody' in your organisation"),
        (syncing(theirs), f"source: there is no source {theirs} in your organisation"),
        (syncing("crm"), "source: 'crm' is a source of the kind rest, and a sync_db_job needs one of"),
        (syncing("shop", kind=SyncKind.FILE), "source: 'shop' is a source of the kind postgresql, and a sync_file_job"),
        (
            syncing("shop", into("mysql", "shop")),
            r"destinations\[0\].config.source: 'shop' .* type mysql needs one of m",
        ),
    ):
        with pytest.raises(InvalidInput, match=reason):
            await laking.lake_job(given)
    assert (await laking.listed()).total == 0


async def test_of_several_jobs_all_are_made_or_none(laking: Laking) -> None:
    await laking.source()
    with pytest.raises(InvalidInput, match="no source 'shap'"):
        await laking.database.write(create_lake_jobs, **MINE, drafts=[syncing("shop"), syncing("shap")])
    assert (await laking.listed()).total == 0
    made = await laking.database.write(create_lake_jobs, **MINE, drafts=[syncing("shop"), syncing("shop")])
    assert [job.id for job in (await laking.listed()).items] == [job.id for job in made]


async def test_a_source_is_deleted_or_named_by_a_new_job_never_both(laking: Laking) -> None:
    for name in ("one", "two", "three", "four"):
        number = await laking.source(name)
        deleting = laking.database.write(delete_source, org_id=1, source_id=number, allow=lambda _: None)
        found = await asyncio.gather(deleting, laking.lake_job(syncing(name)), return_exceptions=True)
        refused = [type(each) for each in found if isinstance(each, WaterclockError)]
        assert refused in ([NotAllowed], [InvalidInput]), found
