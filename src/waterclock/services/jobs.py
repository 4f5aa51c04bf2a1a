"""Jobs: created by authors, changed by their owner, read by everyone in the organisation."""

from collections.abc import Callable, Mapping, Sequence

from waterclock.domain.access import Caller, Right
from waterclock.domain.arguments import check_arguments
from waterclock.domain.errors import NotFound
from waterclock.domain.job import Job, JobFacts, JobSpec
from waterclock.domain.rules import Rules
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database
from waterclock.stores.ops import jobs as ops

Revision = Callable[[Job], tuple[JobSpec, Mapping[str, object]]]


class Jobs:
    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._rules = rules

    async def create(
        self,
        caller: Caller,
        namespace: str,
        name: str,
        spec: JobSpec,
        definition: Mapping[str, object],
        tags: Mapping[str, str],
    ) -> Job:
        caller.needs(Right.DEFINE)
        check_arguments(spec.default_arguments, spec.fixed_arguments)
        return await self._database.write(
            ops.create_job,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            owner=caller.owner,
            spec=spec,
            definition=definition,
            tags=tags,
        )

    async def update(self, caller: Caller, namespace: str, name: str, revise: Revision) -> Job:
        caller.needs(Right.DEFINE)

        def allow(facts: JobFacts) -> None:
            caller.owns("job", name, facts.job.owner)
            self._rules.update_job(facts)

        def checked(job: Job) -> tuple[JobSpec, Mapping[str, object]]:
            spec, definition = revise(job)
            check_arguments(spec.default_arguments, spec.fixed_arguments)
            return spec, definition

        return await self._database.write(
            ops.update_job,
            org_id=caller.org_id,
            namespace=namespace,
            name=name,
            by=caller.user,
            revise=checked,
            allow=allow,
        )

    async def delete(self, caller: Caller, namespace: str, name: str) -> Job:
        caller.needs(Right.DEFINE)

        def allow(facts: JobFacts) -> None:
            caller.owns("job", name, facts.job.owner)
            self._rules.delete_job(facts)

        return await self._database.write(
            ops.delete_job, org_id=caller.org_id, namespace=namespace, name=name, allow=allow
        )

    async def get(self, caller: Caller, namespace: str, name: str) -> Job:
        found = await self.get_many(caller, namespace, [name])
        if name not in found:
            raise NotFound("job", name)
        return found[name]

    async def get_many(self, caller: Caller, namespace: str, names: Sequence[str]) -> Mapping[str, Job]:
        """Those that exist, by name."""
        caller.needs(Right.READ)
        return await self._database.read(ops.get_jobs, org_id=caller.org_id, namespace=namespace, names=names)

    async def list(self, caller: Caller, namespaces: Sequence[str], page: PageRequest) -> Page[Job]:
        caller.needs(Right.READ)
        after = position("jobs", page.token, (str, int))
        found = await self._database.read(
            ops.list_jobs,
            org_id=caller.org_id,
            namespaces=namespaces,
            after=str(after[0]) if after else "",
            after_id=int(str(after[1])) if after else 0,
            limit=page.size + 1,
        )
        return page_of("jobs", found, page.size, lambda job: (job.name, job.id))
