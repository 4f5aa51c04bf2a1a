"""What goes with the claim of a sync or a probe in every store: its sources as they are, and their secrets' names."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.stores.test_stations import ANN, RACK, Station
from tests.stores.world import World
from waterclock.domain.errors import Forbidden
from waterclock.domain.lake_probe import ACTION, SOURCE
from waterclock.domain.lake_secrets import ARGUMENT
from waterclock.domain.lake_sync import PROBE, SyncKind
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import RunState
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.work import WorkService
from waterclock.stores.base import Tx
from waterclock.stores.ops import recording

PASSWORD = {"host": "db", "password": "{{secret:db}}"}


async def have_source(world: World, number: int, config: dict[str, Any], *, org_id: int = 1) -> None:
    row = {"id": number, "org_id": org_id, "name": f"source {number}", "kind": "postgresql", "owner": "ann"}

    async def insert(tx: Tx) -> None:
        now = await tx.now()
        await tx.run("insert_lake_source", {**row, "creator": "ann", "config": json.dumps(config), "now": now})

    await world.database.write(insert)


async def change_source(world: World, number: int, config: dict[str, Any]) -> None:
    async def update(tx: Tx) -> None:
        values = {"id": number, "org_id": 1, "name": "renamed", "config": json.dumps(config), "now": await tx.now()}
        await tx.run("update_lake_source", values)

    await world.database.write(update)


async def sync_of(world: World, name: str = "job", **task: Any) -> None:
    await world.job(name, kind=SyncKind.DB, call={"table_name": "t", **task})
    await world.start(name)


async def test_a_sync_gets_those_that_its_task_names_and_no_others(world: World) -> None:
    for number, org_id in ((1, 1), (2, 1), (3, 1), (4, 2)):
        await have_source(world, number, {"host": f"db{number}"}, org_id=org_id)
    to = {"type": "postgresql", "config": {"source": "source 3", "source_id": 3, "table_name": "t"}}
    elsewhere = {"type": "postgresql", "config": {"source_id": 4, "table_name": "t"}}
    await sync_of(world, source_id=1, destinations=[to, elsewhere])
    (claimed,) = await world.claim()
    assert [(each.id, each.config) for each in claimed.sources] == [(1, {"host": "db1"}), (3, {"host": "db3"})]
    assert ARGUMENT not in claimed.attempt.arguments


async def test_a_query_gets_those_that_it_writes_to(world: World) -> None:
    await have_source(world, 3, {"host": "db3"})
    outputs = [{"type": "jdbc", "config": {"source_id": 3, "table_name": "t"}}]
    await world.job(kind="sql_job", call={"query_info": {"query": "select 1", "outputs": outputs}})
    await world.start()
    (claimed,) = await world.claim()
    assert [each.id for each in claimed.sources] == [3]


async def test_a_probe_gets_the_one_that_it_asks(world: World) -> None:
    await have_source(world, 1, PASSWORD)
    await world.job(kind=PROBE)
    await world.start(arguments={ACTION: "test", SOURCE: "1"})
    (claimed,) = await world.claim()
    assert [each.id for each in claimed.sources] == [1]
    assert claimed.attempt.arguments[ARGUMENT] == "{{secret:db}}"


async def test_the_run_refers_to_the_secrets_of_all_its_claims(world: World) -> None:
    """Whoever shows its log masks what any of its programs was given."""
    await have_source(world, 1, PASSWORD)
    await sync_of(world, source_id=1)
    (claimed,) = await world.claim()
    assert claimed.attempt.arguments == {ARGUMENT: "{{secret:db}}"}
    await change_source(world, 1, {"host": "db", "password": "{{secret:other}}"})
    await world.database.write(_released, claimed.attempt.id)
    (again,) = await world.claim()
    assert again.sources[0].config["password"] == "{{secret:other}}"
    assert again.attempt.arguments == {ARGUMENT: "{{secret:db}} {{secret:other}}"}
    assert (await world.attempt(again.attempt.wire_id)).arguments == again.attempt.arguments


async def test_a_worker_over_http_is_given_the_secrets_of_its_sources_alone(world: World, tmp_path: Path) -> None:
    secrets = Secrets(world.database, SecretBox(tmp_path / "secret.keys"))
    service = WorkService(world.database, {}, secrets)
    for name in ("db", "another"):
        await secrets.put(ANN, name, f"value of {name}")
    await have_source(world, 1, PASSWORD)
    await sync_of(world, source_id=1)
    far = await Station(service, RACK).join()
    (held,) = await far.claim()
    key = (far.host, held.attempt.id, held.attempt.fence)
    assert await service.secrets(RACK, *key, ["db"]) == {"db": "value of db"}
    with pytest.raises(Forbidden):
        await service.secrets(RACK, *key, ["another"])


async def test_the_bookmark_of_a_sync_is_for_its_next_run(world: World) -> None:
    await sync_of(world, source_id=1)
    (claimed,) = await world.claim()
    await world.begin(claimed.attempt)
    left = '{"value": "7", "of": "x"}'
    end = Outcome(attempt_id=claimed.attempt.id, fence=claimed.attempt.fence, state=RunState.SUCCEEDED, bookmark=left)
    await world.database.write(recording.record, beginnings=[], outcomes=[end], rules={})
    await world.start()
    assert [each.bookmark for each in await world.claim()] == [left]


async def _released(tx: Tx, attempt_id: int) -> None:
    await tx.run("release_attempts", {"ids": [attempt_id], "node": "node", "now": await tx.now()})
