"""Tags and crawlers in every store."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.world import PLACE, World
from waterclock.domain.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from waterclock.domain.tagging import Resource, Taggable, Tagged, with_tags, without_tags
from waterclock.stores.base import Database
from waterclock.stores.ops import tags
from waterclock.stores.ops.crawlers import create_crawler, delete_crawler, get_crawlers, list_crawlers
from waterclock.stores.ops.flows import create_flow


def allow(_: object) -> None:
    pass


def refuse(_: object) -> None:
    raise Forbidden("not yours")


def named(kind: Taggable, name: str) -> Resource:
    return Resource(kind=kind, account="", namespace="glue", name=name)


async def make(world: World, kind: Taggable, name: str) -> Resource:
    given: dict[str, Any] = {"name": name, "owner": "ann", "definition": {}, "tags": {}}
    match kind:
        case Taggable.JOB:
            await world.job(name)
        case Taggable.TRIGGER:
            await world.trigger(name, "job")
        case Taggable.FLOW:
            await world.database.write(create_flow, **PLACE, **given, max_concurrent=0, properties={})
        case Taggable.CRAWLER:
            await world.database.write(create_crawler, org_id=1, **given)
    return named(kind, name)


async def add(database: Database, resource: Resource, added: Mapping[str, str]) -> None:
    await database.write(
        tags.change_tags, org_id=1, resource=resource, revise=lambda known: with_tags(known, added), allow=allow
    )


async def tags_of(database: Database, resource: Resource) -> Mapping[str, str]:
    return (await database.read(tags.get_tags, org_id=1, resource=resource)).tags


@pytest.mark.parametrize("kind", [kind for kind in Taggable if kind is not Taggable.TRIGGER])
async def test_tags_are_added_overwritten_and_removed(world: World, kind: Taggable) -> None:
    thing = await make(world, kind, "thing 💧")
    await add(world.database, thing, {"team": "a", "Team": "물"})
    await add(world.database, thing, {"team": "b"})
    assert await tags_of(world.database, thing) == {"team": "b", "Team": "물"}
    await world.database.write(
        tags.change_tags, org_id=1, resource=thing, revise=lambda known: without_tags(known, ["team"]), allow=allow
    )
    assert await tags_of(world.database, thing) == {"Team": "물"}


async def test_tags_of_a_trigger_change_while_it_runs_and_it_still_fires(world: World) -> None:
    await world.job()
    trigger = await make(world, Taggable.TRIGGER, "trigger")
    await add(world.database, trigger, {"team": "a"})
    assert await tags_of(world.database, trigger) == {"team": "a"}
    await world.pass_minute()
    assert (await world.fire()).triggers == 1


async def test_a_refused_or_impossible_change_changes_nothing(world: World) -> None:
    job = await make(world, Taggable.JOB, "job")
    await add(world.database, job, {f"k{number}": "" for number in range(50)})
    seen: list[Tagged] = []
    with pytest.raises(InvalidInput, match="51 tags"):
        await add(world.database, job, {"one": "more"})
    with pytest.raises(Forbidden):
        await world.database.write(tags.change_tags, org_id=1, resource=job, revise=lambda _: {}, allow=refuse)
    await world.database.write(tags.change_tags, org_id=1, resource=job, revise=lambda known: known, allow=seen.append)
    assert (seen[-1].owner, len(seen[-1].tags)) == ("ann", 50)


async def test_what_is_not_there_or_is_anothers_is_not_found(world: World) -> None:
    job = await make(world, Taggable.JOB, "job")
    for kind in Taggable:
        with pytest.raises(NotFound, match=kind.value):
            await tags_of(world.database, named(kind, "nothing"))
    with pytest.raises(NotFound):
        await world.database.read(tags.get_tags, org_id=2, resource=job)
    with pytest.raises(NotFound):
        await world.database.write(tags.change_tags, org_id=2, resource=job, revise=lambda _: {}, allow=allow)


async def test_of_two_who_add_at_once_neither_is_lost(shared: Store) -> None:
    databases = await shared.open_many(2)
    job = await make(World(databases[0]), Taggable.JOB, "job")
    await asyncio.gather(*(add(databases[n % 2], job, {f"k{n}": "v"}) for n in range(12)))
    assert len(await tags_of(databases[0], job)) == 12


async def test_names_with_tags_are_found_past_those_without(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "BATCH", 3)
    monkeypatch.setattr(tags, "MOST_READ", 12)
    for number in range(14):
        await make(world, Taggable.JOB, f"job{number:02}")
    for number in (2, 6, 10, 13):
        await add(world.database, named(Taggable.JOB, f"job{number:02}"), {"team": "a", "n": str(number)})

    async def find(wanted: Mapping[str, str], after: tags.Place = ("", 0), limit: int = 10) -> tags.Found:
        key: dict[str, Any] = {**PLACE, "kind": Taggable.JOB, "after": after, "limit": limit}
        return await world.database.read(tags.names_with_tags, **key, wanted=wanted)

    first = await find({"team": "a"})
    assert [name for name, _ in first.names] == ["job02", "job06", "job10"]
    assert first.more is not None
    rest = await find({"team": "a"}, after=first.more)
    assert ([name for name, _ in rest.names], rest.more) == (["job13"], None)
    assert [name for name, _ in (await find({"team": "a"}, limit=2)).names] == ["job02", "job06"]
    assert [name for name, _ in (await find({"team": "a", "n": "6"})).names] == ["job06"]
    assert (await find({"team": "A"}, after=first.more)).names == []


async def test_triggers_with_tags_are_found_by_their_job_too(world: World) -> None:
    for name in ("job", "other"):
        await world.job(name)
    for name, job in (("one", "job"), ("two", "other"), ("three", "other")):
        await world.trigger(name, job)
    for name in ("one", "two"):
        await add(world.database, named(Taggable.TRIGGER, name), {"team": "a"})
    key: dict[str, Any] = {**PLACE, "kind": Taggable.TRIGGER, "wanted": {"team": "a"}, "after": ("", 0), "limit": 10}
    found = await world.database.read(tags.names_with_tags, **key)
    assert [name for name, _ in found.names] == ["one", "two"]
    found = await world.database.read(tags.names_with_tags, **key, job_name="other")
    assert [name for name, _ in found.names] == ["two"]


async def test_crawlers_are_listed_by_name_and_by_their_tags(world: World) -> None:
    for name in ("b", "a", "c"):
        await make(world, Taggable.CRAWLER, name)
    await add(world.database, named(Taggable.CRAWLER, "c"), {"team": "a"})
    first = await world.database.read(list_crawlers, org_id=1, after="", after_id=0, limit=2)
    rest = await world.database.read(list_crawlers, org_id=1, after="b", after_id=first[-1].id, limit=2)
    assert [crawler.name for crawler in [*first, *rest]] == ["a", "b", "c"]
    assert await world.database.read(list_crawlers, org_id=2, after="", after_id=0, limit=2) == []
    key: dict[str, Any] = {**PLACE, "kind": Taggable.CRAWLER, "wanted": {"team": "a"}, "after": ("", 0), "limit": 10}
    assert [name for name, _ in (await world.database.read(tags.names_with_tags, **key)).names] == ["c"]


async def test_a_crawler_is_kept_once_shown_and_deleted_by_its_rule(world: World) -> None:
    given: dict[str, Any] = {"owner": "ann", "definition": {"Role": "물"}, "tags": {"a": "b"}}
    made = await world.database.write(create_crawler, org_id=1, name="c", **given)
    assert await world.database.read(get_crawlers, org_id=1, names=["c", "d"]) == {"c": made}
    with pytest.raises(AlreadyExists, match="crawler 'c'"):
        await world.database.write(create_crawler, org_id=1, name="c", **given)
    assert await world.database.read(get_crawlers, org_id=2, names=["c"]) == {}
    with pytest.raises(Forbidden):
        await world.database.write(delete_crawler, org_id=1, name="c", allow=refuse)
    await world.database.write(delete_crawler, org_id=1, name="c", allow=allow)
    with pytest.raises(NotFound, match="crawler 'c'"):
        await world.database.write(delete_crawler, org_id=1, name="c", allow=allow)


async def test_of_two_who_make_a_crawler_at_once_one_is_told(shared: Store) -> None:
    databases = await shared.open_many(2)
    given: dict[str, Any] = {"org_id": 1, "name": "c", "owner": "ann", "definition": {}, "tags": {}}
    made = await asyncio.gather(*(each.write(create_crawler, **given) for each in databases), return_exceptions=True)
    assert [type(each) for each in made if isinstance(each, Exception)] == [AlreadyExists]
