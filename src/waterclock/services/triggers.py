"""Triggers: defined by authors, set going and stopped by operators, their ledger open to all."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from waterclock.domain import rules as rule
from waterclock.domain.access import Caller, Right
from waterclock.domain.arguments import check_arguments
from waterclock.domain.errors import NotFound
from waterclock.domain.rules import Rules
from waterclock.domain.schedule import Schedule, from_json
from waterclock.domain.trigger import Fire, FireRules, Trigger, TriggerSpec
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database
from waterclock.stores.ops import triggers as ops
from waterclock.stores.ops.reading import FROM_THE_NEWEST

Revision = Callable[[Trigger], tuple[TriggerSpec, Mapping[str, object]]]


class Triggers:
    def __init__(self, database: Database, rules: Rules, fire_rules: Mapping[str, FireRules]) -> None:
        self._database = database
        self._rules = rules
        self._fire_rules = fire_rules

    async def create(
        self,
        caller: Caller,
        namespace: str,
        name: str,
        spec: TriggerSpec,
        definition: Mapping[str, object],
        tags: Mapping[str, str],
        *,
        start: bool,
    ) -> Trigger:
        caller.needs(Right.DEFINE)
        check_arguments(*(action.arguments for action in spec.actions))
        return await self._database.write(
            ops.create_trigger,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            owner=caller.owner,
            spec=spec,
            definition=definition,
            tags=tags,
            start=start,
        )

    async def update(self, caller: Caller, namespace: str, name: str, revise: Revision) -> Trigger:
        caller.needs(Right.DEFINE)

        def checked(trigger: Trigger) -> tuple[TriggerSpec, Mapping[str, object]]:
            spec, definition = revise(trigger)
            check_arguments(*(action.arguments for action in spec.actions))
            return spec, definition

        return await self._database.write(
            ops.update_trigger,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            revise=checked,
            allow=self._changeable_by(caller),
        )

    async def delete(self, caller: Caller, namespace: str, name: str) -> Trigger:
        caller.needs(Right.DEFINE)
        return await self._database.write(
            ops.delete_trigger,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            allow=self._changeable_by(caller),
        )

    async def start(self, caller: Caller, namespace: str, name: str, *, digest: str | None = None) -> Trigger:
        """An ON_DEMAND trigger fires once for all calls with the same digest."""
        caller.needs(Right.RUN)
        return await self._database.write(
            ops.start_trigger,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            allow=rule.start_trigger,
            rules=self._fire_rules,
            digest=digest,
        )

    async def stop(self, caller: Caller, namespace: str, name: str) -> Trigger:
        caller.needs(Right.RUN)
        return await self._database.write(
            ops.stop_trigger,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            allow=rule.stop_trigger,
            stop_runs=self._rules.stopping_stops_runs,
            rules=self._fire_rules,
        )

    async def get(self, caller: Caller, namespace: str, name: str) -> Trigger:
        found = await self.get_many(caller, namespace, [name])
        if name not in found:
            raise NotFound("trigger", name)
        return found[name]

    async def get_many(self, caller: Caller, namespace: str, names: Sequence[str]) -> Mapping[str, Trigger]:
        caller.needs(Right.READ)
        return await self._database.read(ops.get_triggers, org_id=caller.org_id, namespace=namespace, names=names)

    async def list(
        self, caller: Caller, namespaces: Sequence[str], page: PageRequest, *, job_name: str | None = None
    ) -> Page[Trigger]:
        """All, or those that have an action on `job_name`."""
        caller.needs(Right.READ)
        after = position("triggers", page.token, (str, int))
        found = await self._database.read(
            ops.list_triggers,
            org_id=caller.org_id,
            namespaces=namespaces,
            job_name=job_name,
            after=str(after[0]) if after else "",
            after_id=int(str(after[1])) if after else 0,
            limit=page.size + 1,
        )
        return page_of("triggers", found, page.size, lambda trigger: (trigger.name, trigger.id))

    async def fires(self, caller: Caller, namespace: str, name: str, page: PageRequest) -> Page[Fire]:
        """The ledger, newest first."""
        trigger = await self.get(caller, namespace, name)
        before = position("fires", page.token, (int, int))
        found = await self._database.read(
            ops.list_fires,
            org_id=caller.org_id,
            trigger_id=trigger.id,
            before=int(str(before[0])) if before else FROM_THE_NEWEST[0],
            before_id=int(str(before[1])) if before else FROM_THE_NEWEST[1],
            limit=page.size + 1,
        )
        return page_of("fires", found, page.size, lambda fire: (fire.fire_at, fire.id))

    async def preview(
        self, caller: Caller, namespace: str, name: str, *, after: datetime, count: int
    ) -> Sequence[datetime]:
        """When it would fire next; nothing for a trigger without a schedule."""
        trigger = await self.get(caller, namespace, name)
        if trigger.spec.schedule is None:
            return []
        return upcoming(from_json(trigger.spec.schedule), after, count)

    def _changeable_by(self, caller: Caller) -> Callable[[Trigger], None]:
        def allow(trigger: Trigger) -> None:
            caller.owns("trigger", trigger.name, trigger.owner)
            self._rules.change_trigger(trigger)

        return allow


def upcoming(schedule: Schedule, after: datetime, count: int) -> list[datetime]:
    """The next `count` instants, fewer where the schedule ends."""
    found: list[datetime] = []
    moment: datetime | None = after
    for _ in range(count):
        moment = schedule.next_after(moment) if moment else None
        if moment is None:
            break
        found.append(moment)
    return found
