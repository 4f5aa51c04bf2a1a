"""The sources that a lake job names, looked up in the transaction that keeps the job."""

from dataclasses import replace

from waterclock.domain.lake import LakeDraft
from waterclock.domain.lake_references import NAME, Found, check_found, sources_named, with_source_ids
from waterclock.domain.lake_sync import SourceKind
from waterclock.stores.base import Tx


async def with_sources(tx: Tx, org_id: int, draft: LakeDraft) -> LakeDraft:
    """With their numbers; they are held, so that nobody deletes one before the job that names it is there."""
    named = sources_named(draft.class_name, draft.task)
    if not named:
        return draft
    asked = {each.reference for each in named}
    names, numbers = (sorted(ref for ref in asked if isinstance(ref, kind)) for kind in (str, int))
    rows = await tx.fetch("hold_named_lake_sources", {"org_id": org_id, "names": names, "ids": numbers})
    found = {row[key]: Found(id=row["id"], kind=SourceKind(row["kind"])) for row in rows for key in ("id", "name")}
    ids = {each.place: check_found(each, found.get(each.reference)).id for each in named}
    return replace(draft, task=with_source_ids(draft.task, ids), source_id=ids.get(NAME))
