"""Reading the audit: for admins, newest first."""

from waterclock.domain.access import Caller, Right
from waterclock.domain.audit import NOBODY, Sought
from waterclock.domain.errors import Forbidden
from waterclock.services.access import FIRST_ORGANISATION
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database
from waterclock.stores.ops.audit import Kept, list_audit
from waterclock.stores.ops.reading import FROM_THE_NEWEST


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, caller: Caller, sought: Sought, page: PageRequest, *, unknown: bool = False) -> Page[Kept]:
        """The organisation's calls; `unknown`: those of nobody we know, for admins of the first organisation."""
        caller.needs(Right.ADMINISTER)
        if unknown and caller.org_id != FIRST_ORGANISATION:
            raise Forbidden("only admins of the first organisation see the calls of unknown callers")
        before = position("audit", page.token, (int, int))
        found = await self._database.read(
            list_audit,
            org_id=NOBODY if unknown else caller.org_id,
            sought=sought,
            before=(int(str(before[0])), int(str(before[1]))) if before else FROM_THE_NEWEST,
            limit=page.size + 1,
        )
        return page_of("audit", found, page.size, lambda kept: (kept.entry.at, kept.seq))
