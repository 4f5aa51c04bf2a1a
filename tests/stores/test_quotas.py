"""Quotas in every store: kept in the transaction that makes what they count, however many ask at once."""

import asyncio
from typing import Any

import pytest

from tests.stores.chaining import spec as chain_spec
from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.access import Role
from waterclock.domain.errors import NotFound, QuotaExceeded, WaterclockError
from waterclock.domain.job import JobSpec
from waterclock.domain.quota import EVERYBODY, Quota, QuotaKind
from waterclock.domain.trigger import TriggerSpec, TriggerType
from waterclock.stores.base import Database
from waterclock.stores.ops import access, chains, flows, jobs, quotas, starting, triggers

MANY = 6


class Limited(World):
    """An organisation with the users ann and bob, and a job that runs as often as anybody likes."""

    org_id: int

    async def furnish(self) -> "Limited":
        self.org_id = (await self.database.write(access.create_organisation, account="123456789012", name="o")).id
        for name in ("ann", "bob"):
            await self.database.write(access.create_user, org_id=self.org_id, name=name, role=Role.AUTHOR)
        await self.database.write(
            jobs.create_job, **self.place, name="job", owner="ann", spec=JobSpec(kind="shell", max_concurrent=0), **BARE
        )
        return self

    @property
    def place(self) -> dict[str, Any]:
        return {"org_id": self.org_id, "namespace": "glue"}

    async def limit(self, kind: QuotaKind, most: int, user: str = EVERYBODY) -> Quota:
        return await self.database.write(quotas.set_quota, org_id=self.org_id, user=user, kind=kind, most=most)

    async def call(self, *users: str, database: Database | None = None) -> list[str | WaterclockError]:
        request = starting.RunRequest(job_name="job")
        calls = [
            starting.StartCall(**self.place, requested_by=user, request=request, is_limited=True) for user in users
        ]
        return await (database or self.database).write(starting.start_each, calls=calls)


BARE: dict[str, Any] = {"definition": {}, "tags": {}}


@pytest.fixture
async def limited(database: Database) -> Limited:
    return await Limited(database).furnish()


async def test_a_run_too_many_is_refused_with_the_figures_until_one_has_ended(limited: Limited) -> None:
    await limited.limit(QuotaKind.LIVE_RUNS, 2, "ann")
    first, second, third = await limited.call("ann", "ann", "ann")
    assert isinstance(first, str)
    assert isinstance(second, str)
    assert str(third).startswith("'ann' has 2 live runs and may have 2: an admin")
    (again,) = await limited.call("ann")
    assert isinstance(again, QuotaExceeded)
    assert (again.used, again.most) == (2, 2)
    await limited.run_one()
    assert isinstance((await limited.call("ann"))[0], str)


async def test_one_who_has_no_room_harms_no_neighbour(limited: Limited) -> None:
    await limited.limit(QuotaKind.LIVE_RUNS, 0, "ann")
    refused, started = await limited.call("ann", "bob")
    assert (type(refused), type(started)) == (QuotaExceeded, str)


async def test_a_line_of_ones_own_counts_instead_of_everybodys(limited: Limited) -> None:
    await limited.limit(QuotaKind.LIVE_RUNS, 0)
    await limited.limit(QuotaKind.LIVE_RUNS, 1, "ann")
    assert [type(each) for each in await limited.call("ann", "bob")] == [str, QuotaExceeded]


async def test_all_of_several_runs_are_started_or_none(limited: Limited) -> None:
    await limited.limit(QuotaKind.LIVE_RUNS, 2, "ann")
    asked = [starting.RunRequest(job_name="job")] * 3
    with pytest.raises(QuotaExceeded):
        await limited.database.write(
            starting.start_runs, **limited.place, requested_by="ann", requests=asked, is_limited=True
        )
    assert await limited.claim() == []


async def test_however_many_start_at_once_no_more_run_than_the_quota_says(shared: Store) -> None:
    limited = await Limited(await shared.open()).furnish()
    await limited.limit(QuotaKind.LIVE_RUNS, 2)
    others = [await shared.open() for _ in range(2)]
    answers = await asyncio.gather(*(limited.call("ann", database=others[number % 2]) for number in range(MANY)))
    assert sorted(type(answer).__name__ for (answer,) in answers) == ["QuotaExceeded"] * (MANY - 2) + ["str"] * 2


@pytest.mark.parametrize("kind", [kind for kind in QuotaKind if kind is not QuotaKind.LIVE_RUNS])
async def test_the_first_definition_too_many_is_refused(limited: Limited, kind: QuotaKind) -> None:
    there = 1 if kind is QuotaKind.JOBS else 0
    await limited.limit(kind, there + 1, "ann")
    await define(limited, kind, "one")
    with pytest.raises(QuotaExceeded, match=f"{there + 1} {kind}"):
        await define(limited, kind, "two")
    (line,) = await limited.database.read(quotas.list_quotas, org_id=limited.org_id)
    assert line == Quota(user="ann", kind=kind, most=there + 1, used=there + 1)


async def test_the_parts_of_a_chain_count_as_the_chain(limited: Limited) -> None:
    for kind in (QuotaKind.JOBS, QuotaKind.TRIGGERS, QuotaKind.WORKFLOWS):
        await limited.limit(kind, 0)
    await define(limited, QuotaKind.CHAINS, "chain")


async def test_a_quota_is_replaced_and_removed(limited: Limited) -> None:
    await limited.limit(QuotaKind.JOBS, 5, "ann")
    assert await limited.limit(QuotaKind.JOBS, 7, "ann") == Quota(user="ann", kind=QuotaKind.JOBS, most=7, used=1)
    key: dict[str, Any] = {"org_id": limited.org_id, "user": "ann", "kind": QuotaKind.JOBS}
    await limited.database.write(quotas.remove_quota, **key)
    assert await limited.database.read(quotas.list_quotas, org_id=limited.org_id) == []
    with pytest.raises(NotFound):
        await limited.database.write(quotas.remove_quota, **key)
    with pytest.raises(NotFound, match="nobody"):
        await limited.limit(QuotaKind.JOBS, 1, "nobody")


async def define(limited: Limited, kind: QuotaKind, name: str) -> None:
    made = {**limited.place, "name": name, "owner": "ann", **BARE}
    match kind:
        case QuotaKind.JOBS:
            await limited.database.write(jobs.create_job, **made, spec=JobSpec(kind="shell"))
        case QuotaKind.TRIGGERS:
            spec = TriggerSpec(type=TriggerType.ON_DEMAND, actions=())
            await limited.database.write(triggers.create_trigger, **made, spec=spec, start=False)
        case QuotaKind.WORKFLOWS:
            await limited.database.write(flows.create_flow, **made, max_concurrent=1, properties={})
        case QuotaKind.CHAINS:
            await limited.database.write(
                chains.create_chain, org_id=limited.org_id, owner="ann", spec=chain_spec(1), probe_seconds=60.0
            )
