"""Sources on every store: kept, found, changed and deleted together with the secrets in them."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.stores.laking import Laking, draft
from tests.stores.store import Store
from waterclock.domain.access import Caller, Role
from waterclock.domain.errors import AlreadyExists, CannotRun, Forbidden, InvalidInput, NotAllowed, NotFound
from waterclock.domain.lake_source_rules import SourceDraft
from waterclock.domain.lake_source_secrets import MASK, shown
from waterclock.domain.lake_sync import LakeSource, SourceKind, SyncKind
from waterclock.domain.rules import GUARDED
from waterclock.services.jobs import Jobs
from waterclock.services.lake_sources import LakeSources
from waterclock.services.paging import PageRequest
from waterclock.services.runs import Runs
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.stores.base import Database
from waterclock.stores.ops.lake_sources import sources_by_ids

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")
BOB = replace(ANN, user="bob")
VIEWER = replace(ANN, user="vic", role=Role.VIEWER)
OTHER = replace(ANN, org_id=2)
CONFIG: dict[str, Any] = {"host": "db", "database": "shop", "user": "reader", "password": "hunter22"}


class Keeping(Laking):
    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.secrets = Secrets(database, SecretBox(folder / "secret.keys"))
        self.sources = LakeSources(database, self.secrets, Runs(database, Jobs(database, GUARDED)))

    async def make(self, name: str = "shop", caller: Caller = ANN, **config: Any) -> LakeSource:
        return await self.sources.create(caller, sent(name, **config))

    async def secret(self, name: str) -> str:
        return (await self.secrets.values(1, [name]))[name]

    async def secret_names(self) -> list[str]:
        return [each.name for each in (await self.secrets.list(ANN, PageRequest())).items]


def sent(name: str = "shop", kind: SourceKind = SourceKind.POSTGRESQL, **config: Any) -> SourceDraft:
    return SourceDraft(name=name, kind=kind, config={**CONFIG, **config})


@pytest.fixture
async def keeping(shared: Store, tmp_path: Path) -> Keeping:
    return Keeping(await shared.open(), tmp_path)


async def test_a_source_is_kept_with_a_reference_and_its_secret_beside_it(keeping: Keeping) -> None:
    made = await keeping.make()
    assert (made.name, made.kind, made.owner, made.creator) == ("shop", SourceKind.POSTGRESQL, "ann", "ann")
    name = f"source-{made.id}-password"
    assert made.config == {**CONFIG, "port": 5432, "password": f"{{{{secret:{name}}}}}"}
    assert (await keeping.secret(name), await keeping.secret_names()) == ("hunter22", [name])
    assert shown(made)["password"] == MASK
    for key in (made.id, "shop"):
        assert await keeping.sources.get(VIEWER, key) == made
        with pytest.raises(NotFound):
            await keeping.sources.get(OTHER, key)
    with pytest.raises(AlreadyExists):
        await keeping.make(password="another")
    assert await keeping.secret_names() == [name]


async def test_an_update_changes_what_is_sent_and_leaves_what_is_masked(keeping: Keeping) -> None:
    made = await keeping.make()
    name = f"source-{made.id}-password"
    moved = await keeping.sources.update(ANN, made.id, sent("shop 2", host="db2", password=MASK))
    assert (moved.name, moved.config) == ("shop 2", {**made.config, "host": "db2"})
    assert await keeping.secret(name) == "hunter22"
    await keeping.sources.update(ANN, made.id, sent(password="hunter23"))
    assert await keeping.secret(name) == "hunter23"
    given = await keeping.sources.update(ANN, made.id, sent(password="{{secret:other}}"))
    assert (given.config["password"], await keeping.secret_names()) == ("{{secret:other}}", [])
    with pytest.raises(CannotRun, match="was deleted"):
        await keeping.secret(name)
    await keeping.sources.update(ANN, made.id, sent(password="hunter24"))
    assert await keeping.secret(name) == "hunter24"
    with pytest.raises(InvalidInput, match="cannot become"):
        await keeping.sources.update(ANN, made.id, sent(kind=SourceKind.MYSQL))
    await keeping.make("taken")
    with pytest.raises(AlreadyExists):
        await keeping.sources.update(ANN, made.id, sent("taken"))


async def test_a_source_is_deleted_with_its_secrets_by_its_owner_alone(keeping: Keeping) -> None:
    made = await keeping.make()
    for who, refused in ((BOB, Forbidden), (VIEWER, Forbidden), (OTHER, NotFound)):
        with pytest.raises(refused):
            await keeping.sources.delete(who, made.id)
        with pytest.raises(refused):
            await keeping.sources.update(who, made.id, sent(password=MASK))
    await keeping.sources.delete(ANN, made.id)
    assert await keeping.secret_names() == []
    with pytest.raises(NotFound):
        await keeping.sources.get(ANN, made.id)


async def test_a_source_that_a_job_names_stays(keeping: Keeping) -> None:
    read, written = await keeping.make("read"), await keeping.make("written")
    output = {"type": "postgresql", "config": {"source": "written", "table_name": "t"}}
    task = {"source": "read", "table_name": "orders", "sync_mode": "FullSync", "destinations": [output]}
    job = await keeping.lake_job(draft("sync", kind=SyncKind.DB, task=task))
    for source in (read, written):
        with pytest.raises(NotAllowed, match=rf"is named by the lake job\(s\) {job.id}: change or delete"):
            await keeping.sources.delete(ANN, source.id)
    await keeping.remove(job)
    for source in (read, written):
        await keeping.sources.delete(ANN, source.id)


async def test_sources_are_listed_by_name_and_found_by_number(keeping: Keeping) -> None:
    made = [await keeping.make(name) for name in ("Đơn hàng", "archive", "Shop_1", "shop%2")]
    theirs = await keeping.make("shop", OTHER)

    async def found(keyword: str | None = None, offset: int = 0, limit: int = 10) -> tuple[list[str], int]:
        listed = await keeping.sources.list(VIEWER, keyword=keyword, offset=offset, limit=limit)
        return [each.name for each in listed.items], listed.total

    assert (sorted((await found())[0]), (await found())[1]) == (sorted(each.name for each in made), 4)
    assert (len((await found(limit=3))[0]), len((await found(offset=3))[0])) == (3, 1)
    assert await found("SHOP_") == (["Shop_1"], 1)
    assert await found("đƠN") == (["Đơn hàng"], 1)
    assert await found("%") == (["shop%2"], 1)
    wanted = [(1, made[0].id), (1, theirs.id), (2, theirs.id), (1, 777_777)]
    by_ids = await keeping.database.read(sources_by_ids, org_ids_and_ids=wanted)
    assert by_ids == {(1, made[0].id): made[0], (2, theirs.id): theirs}


async def test_of_two_that_make_the_same_one_is_told(keeping: Keeping) -> None:
    both = await asyncio.gather(*(keeping.make() for _ in range(2)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in both) == ["AlreadyExists", "LakeSource"]
    assert len(await keeping.secret_names()) == 1
