"""Sources of the lake: defined by authors, seen by everyone in the organisation, their secrets by nobody.

A secret that is given in the open is sealed in the transaction that keeps the source; from then on it has a name.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from waterclock.domain.access import Caller, Right
from waterclock.domain.lake import Listed
from waterclock.domain.lake_probe import Action, Probe
from waterclock.domain.lake_source_rules import SourceDraft, check_source_name, checked_config
from waterclock.domain.lake_sync import LakeSource
from waterclock.domain.secret import Secret
from waterclock.services.lake_probing import Probing
from waterclock.services.runs import Runs
from waterclock.services.secrets import Secrets
from waterclock.stores.base import Database
from waterclock.stores.ops import lake_sources as ops

MOST_ROWS: Final = 100  # of a preview
USUAL_ROWS: Final = 20


class LakeSources:
    def __init__(self, database: Database, secrets: Secrets, runs: Runs) -> None:
        self._database = database
        self._secrets = secrets
        self._probing = Probing(database, runs)

    async def create(self, caller: Caller, draft: SourceDraft) -> LakeSource:
        caller.needs(Right.DEFINE)
        return await self._database.write(
            ops.create_source,
            org_id=caller.org_id,
            owner=caller.owner,
            creator=caller.user,
            draft=_checked(draft),
            sealing=self._sealing(caller),
        )

    async def get(self, caller: Caller, source: int | str) -> LakeSource:
        """By its number or its name."""
        caller.needs(Right.READ)
        return await self._database.read(ops.get_source, org_id=caller.org_id, source=source)

    async def update(self, caller: Caller, source_id: int, draft: SourceDraft) -> LakeSource:
        """All of it but its kind; a secret that is sent as it was shown stays as it is."""
        caller.needs(Right.DEFINE)
        return await self._database.write(
            ops.update_source,
            org_id=caller.org_id,
            source_id=source_id,
            draft=_checked(draft),
            allow=_owned_by(caller),
            sealing=self._sealing(caller),
        )

    async def delete(self, caller: Caller, source_id: int) -> None:
        """With the secrets that were made for it; not while a job names it."""
        caller.needs(Right.DEFINE)
        await self._database.write(
            ops.delete_source, org_id=caller.org_id, source_id=source_id, allow=_owned_by(caller)
        )

    async def list(
        self, caller: Caller, *, keyword: str | None = None, offset: int = 0, limit: int = 100
    ) -> Listed[LakeSource]:
        caller.needs(Right.READ)
        return await self._database.read(
            ops.list_sources, org_id=caller.org_id, keyword=keyword, offset=offset, limit=limit
        )

    # Whoever asks a source could as well define a job that reads it: that takes an author.

    async def test(self, caller: Caller, source_id: int) -> Mapping[str, object]:
        return await self._ask(caller, source_id, Action.TEST, {})

    async def tables(self, caller: Caller, source_id: int) -> Mapping[str, object]:
        return await self._ask(caller, source_id, Action.TABLES, {})

    async def preview(
        self, caller: Caller, source_id: int, what: Mapping[str, object], *, rows: int = USUAL_ROWS
    ) -> Mapping[str, object]:
        """The first rows, and their columns; `what` are fields of a sync job."""
        return await self._ask(caller, source_id, Action.PREVIEW, {**what, "rows": min(rows, MOST_ROWS)})

    async def _ask(
        self, caller: Caller, source_id: int, action: Action, what: Mapping[str, object]
    ) -> Mapping[str, object]:
        caller.needs(Right.DEFINE)
        source = await self.get(caller, source_id)
        return await self._probing.answer(caller, source, Probe(action=action, source_id=source.id, what=what))

    def _sealing(self, caller: Caller) -> ops.Sealing:
        return ops.Sealing(by=caller.user, seal=self._secrets.sealing(caller.org_id), allow=_changeable(caller))


def _checked(draft: SourceDraft) -> SourceDraft:
    check_source_name(draft.name)
    return replace(draft, config=checked_config(draft.kind, draft.config))


def _owned_by(caller: Caller) -> Callable[[LakeSource], None]:
    return lambda source: caller.owns("lake source", source.name, source.owner)


def _changeable(caller: Caller) -> Callable[[Secret], None]:
    return lambda secret: caller.owns("secret", secret.name, secret.owner)
