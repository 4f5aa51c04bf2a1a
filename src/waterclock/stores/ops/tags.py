"""Tags: read, changed under the lock of what carries them, and looked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.errors import NotFound
from waterclock.domain.tagging import Resource, Taggable, Tagged, carries
from waterclock.stores.base import Tx
from waterclock.stores.ops.rows import dumped, loaded

Revision = Callable[[Mapping[str, str]], Mapping[str, str]]
Place = tuple[str, int]  # a name and a number: where a list goes on

BATCH: Final = 1_000
MOST_READ: Final = 20_000  # by one call, however few of them carry the tags

_READ: Final = {
    Taggable.JOB: "tags_of_job",
    Taggable.TRIGGER: "tags_of_trigger",
    Taggable.FLOW: "tags_of_flow",
    Taggable.CRAWLER: "tags_of_crawler",
}
_LISTS: Final = {
    Taggable.JOB: "job_tags_of_org",
    Taggable.TRIGGER: "trigger_tags_of_org",
    Taggable.CRAWLER: "crawler_tags_of_org",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Names, each with its place; `more` is where to look on, where the look ended before the list did."""

    names: Sequence[Place]
    more: Place | None


async def get_tags(tx: Tx, *, org_id: int, resource: Resource) -> Tagged:
    return await _fetch(tx, _READ[resource.kind], org_id, resource)


async def change_tags(
    tx: Tx, *, org_id: int, resource: Resource, revise: Revision, allow: Callable[[Tagged], None]
) -> None:
    """`revise` is pure and sees the tags as they are now."""
    statement = _READ[resource.kind]
    found = await _fetch(tx, f"lock_{statement}", org_id, resource)
    allow(found)
    await tx.run(f"set_{statement}", {"id": found.id, "tags": dumped(revise(found.tags))})


async def names_with_tags(
    tx: Tx,
    *,
    org_id: int,
    kind: Taggable,
    namespace: str,
    wanted: Mapping[str, str],
    after: Place,
    limit: int,
    job_name: str | None = None,
) -> Found:
    """Up to `limit` that carry all of them; of triggers all, or those with an action on `job_name`."""
    key: dict[str, object] = {"org_id": org_id, **_place(kind, namespace), "limit": BATCH}
    statement = _LISTS[kind]
    if job_name is not None:
        statement, key = "trigger_tags_of_job", {**key, "job_name": job_name}
    names: list[Place] = []
    for _ in range(MOST_READ // BATCH):
        rows = await tx.fetch(statement, {**key, "after": after[0], "after_id": after[1]})
        names += [(row["name"], row["id"]) for row in rows if carries(loaded(row["tags"]), wanted)]
        if len(rows) < BATCH or len(names) >= limit:
            return Found(names=names[:limit], more=None)
        after = (rows[-1]["name"], rows[-1]["id"])
    return Found(names=names, more=after)


async def _fetch(tx: Tx, statement: str, org_id: int, resource: Resource) -> Tagged:
    place = _place(resource.kind, resource.namespace)
    row = await tx.fetch_one(statement, {"org_id": org_id, **place, "name": resource.name})
    if row is None:
        raise NotFound(resource.kind, resource.name)
    return Tagged(id=row["id"], owner=row["owner"], tags=loaded(row["tags"]))


def _place(kind: Taggable, namespace: str) -> Mapping[str, object]:
    """Only one face has crawlers."""
    return {} if kind is Taggable.CRAWLER else {"namespace": namespace}
