"""Sources: made, changed and deleted together with the secrets in them; they go with the claim of a sync."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Final

from waterclock.domain.errors import AlreadyExists, InvalidInput, NotAllowed, NotFound
from waterclock.domain.lake import Listed
from waterclock.domain.lake_source_rules import SourceDraft
from waterclock.domain.lake_source_secrets import in_the_open, name_of, own_secrets, referring, with_kept
from waterclock.domain.lake_sync import LakeSource, SourceKind
from waterclock.domain.secret import Secret
from waterclock.domain.sync_task import source_ids
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.lake_rows import folded
from waterclock.stores.ops.rows import dumped, loaded, spec_of
from waterclock.stores.ops.secrets import add_version, delete_secret, get_secret, next_version

Rule = Callable[[LakeSource], None]
SecretRule = Callable[[Secret], None]
Seal = Callable[[str, int, str], str]  # a secret's name, its version, and what it is

MOST_SOURCES: Final = 1_000  # of an organisation
DESCRIPTION: Final = "of the lake source {name!r}: it goes with it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealing:
    """By whom secrets are set, and how they are sealed."""

    by: str
    seal: Seal
    allow: SecretRule


async def create_source(
    tx: Tx, *, org_id: int, owner: str, creator: str, draft: SourceDraft, sealing: Sealing
) -> LakeSource:
    names = await _names(tx, org_id)
    if draft.name in names:
        raise AlreadyExists("lake source", draft.name)
    if len(names) >= MOST_SOURCES:
        raise NotAllowed(f"there are {MOST_SOURCES} lake sources, and no more can be: delete one first")
    (number,) = await tx.numbers(Kind.LAKE_SOURCE, 1)
    config, now = with_kept(draft.config, {}), await tx.now()
    row = {"id": number, "org_id": org_id, "name": draft.name, "kind": draft.kind, "owner": owner, "creator": creator}
    await tx.run("insert_lake_source", {**row, "config": dumped(referring(number, config)), "now": now})
    made = await get_source(tx, org_id=org_id, source=number)
    await _keep_secrets(tx, made, config, sealing)
    return made


async def update_source(
    tx: Tx, *, org_id: int, source_id: int, draft: SourceDraft, allow: Rule, sealing: Sealing
) -> LakeSource:
    """All of it but its kind; a secret that is sent masked stays, one that is not sent goes."""
    present = await _lock(tx, org_id, source_id, allow)
    if present.kind is not draft.kind:
        raise InvalidInput(f"a source of {present.kind} cannot become one of {draft.kind}: make another", field="kind")
    if (await _names(tx, org_id)).get(draft.name, source_id) != source_id:
        raise AlreadyExists("lake source", draft.name)
    config = with_kept(draft.config, present.config)
    values = {"id": source_id, "org_id": org_id, "name": draft.name, "config": dumped(referring(source_id, config))}
    await tx.run("update_lake_source", {**values, "now": await tx.now()})
    made = await get_source(tx, org_id=org_id, source=source_id)
    await _keep_secrets(tx, made, config, sealing)
    await _delete_secrets(tx, made, own_secrets(present) - own_secrets(made))
    return made


async def delete_source(tx: Tx, *, org_id: int, source_id: int, allow: Rule) -> LakeSource:
    """Not while a job reads it or writes to it."""
    present = await _lock(tx, org_id, source_id, allow)
    if jobs := await _jobs_with(tx, present):
        named = ", ".join(map(str, jobs))
        raise NotAllowed(
            f"lake source {present.name!r} is named by the lake job(s) {named}: change or delete them first"
        )
    await tx.run("delete_lake_source", {"id": source_id, "org_id": org_id})
    await _delete_secrets(tx, present, own_secrets(present))
    return present


async def get_source(tx: Tx, *, org_id: int, source: int | str) -> LakeSource:
    """By its number or its name."""
    by_id = isinstance(source, int)
    statement, key = ("lake_source_by_id", "id") if by_id else ("lake_source_by_name", "name")
    row = await tx.fetch_one(statement, {key: source, "org_id": org_id})
    if row is None:
        raise NotFound("lake source", source)
    return _source(row)


async def list_sources(tx: Tx, *, org_id: int, keyword: str | None, offset: int, limit: int) -> Listed[LakeSource]:
    """By their names."""
    sought = folded(keyword or "")
    ids = [number for name, number in (await _names(tx, org_id)).items() if sought in folded(name)]
    wanted = {(org_id, number) for number in ids[offset : offset + limit]}
    found = await sources_by_ids(tx, wanted)
    items = [found[org_id, number] for number in ids if (org_id, number) in found]
    return Listed(items=items, total=len(ids))


async def sources_by_ids(tx: Tx, org_ids_and_ids: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], LakeSource]:
    """By organisation and number, those that are there; nothing is asked where none is wanted."""
    if not org_ids_and_ids:
        return {}
    rows = await tx.fetch("lake_sources_by_ids", {"ids": sorted({number for _, number in org_ids_and_ids})})
    found = {(row["org_id"], row["id"]): _source(row) for row in rows}
    return {key: found[key] for key in org_ids_and_ids if key in found}


async def _names(tx: Tx, org_id: int) -> dict[str, int]:
    """In their order."""
    return {row["name"]: row["id"] for row in await tx.fetch("lake_source_names", {"org_id": org_id})}


async def _lock(tx: Tx, org_id: int, source_id: int, allow: Rule) -> LakeSource:
    row = await tx.fetch_one("lock_lake_source", {"id": source_id, "org_id": org_id})
    if row is None:
        raise NotFound("lake source", source_id)
    found = _source(row)
    allow(found)
    return found


async def _keep_secrets(tx: Tx, source: LakeSource, config: Mapping[str, object], sealing: Sealing) -> None:
    """What stands in this config in the open; they are owned as the source is."""
    for place, value in in_the_open(config).items():
        name = name_of(source.id, place)
        version = await next_version(tx, org_id=source.org_id, name=name)
        await add_version(
            tx,
            org_id=source.org_id,
            name=name,
            version=version,
            sealed=sealing.seal(name, version, value),
            owner=source.owner,
            description=DESCRIPTION.format(name=source.name),
            by=sealing.by,
            allow=sealing.allow,
        )


async def _delete_secrets(tx: Tx, source: LakeSource, names: Collection[str]) -> None:
    """Whoever may change the source may. One that is gone already is passed over, and so is somebody else's."""
    for name in sorted(names):
        found = await get_secret(tx, org_id=source.org_id, name=name)
        if found and found.owner == source.owner:
            await delete_secret(tx, org_id=source.org_id, name=name, allow=lambda _: None)


async def _jobs_with(tx: Tx, source: LakeSource) -> list[int]:
    rows = await tx.fetch("lake_jobs_with_sources", {"org_id": source.org_id, "source_id": source.id})
    return [row["id"] for row in rows if row["source_id"] == source.id or source.id in _named(row["spec"])]


def _named(spec: str) -> frozenset[int]:
    task = spec_of(spec).call
    return source_ids(task) if isinstance(task, Mapping) else frozenset()


def _source(row: Row) -> LakeSource:
    plain = {each.name: row[each.name] for each in fields(LakeSource)}
    return LakeSource(**{**plain, "kind": SourceKind(row["kind"]), "config": loaded(row["config"])})
