"""Groups: made and filled by admins, seen by everyone; what a group owns each of its members may change."""

from collections.abc import Sequence

from waterclock.domain.access import Caller, Group, Right
from waterclock.services.access import check_name
from waterclock.stores.base import Database
from waterclock.stores.ops import groups as ops


class Groups:
    """A change is felt as soon as keys and tokens are looked up again: within `access.REMEMBER_SECONDS`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, caller: Caller, name: str) -> Group:
        caller.needs(Right.ADMINISTER)
        check_name("group", name)
        return await self._database.write(ops.create_group, org_id=caller.org_id, name=name)

    async def list(self, caller: Caller) -> Sequence[Group]:
        caller.needs(Right.READ)
        return await self._database.read(ops.list_groups, org_id=caller.org_id)

    async def delete(self, caller: Caller, name: str) -> None:
        caller.needs(Right.ADMINISTER)
        await self._database.write(ops.delete_group, org_id=caller.org_id, name=name)

    async def add(self, caller: Caller, name: str, user_name: str) -> None:
        caller.needs(Right.ADMINISTER)
        await self._database.write(ops.add_member, org_id=caller.org_id, name=name, user_name=user_name)

    async def remove(self, caller: Caller, name: str, user_name: str) -> None:
        """Their keys and tokens for this group end; their own stay."""
        caller.needs(Right.ADMINISTER)
        await self._database.write(ops.remove_member, org_id=caller.org_id, name=name, user_name=user_name)
