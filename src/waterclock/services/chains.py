"""Chains: defined by authors, switched, run and stopped by operators, seen with their evidence by everyone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from waterclock.domain.access import Caller, Right
from waterclock.domain.arguments import check_arguments
from waterclock.domain.chain import Chain, ChainSpec, Switch, check, schedule_of
from waterclock.domain.chain_graph import compile_chain
from waterclock.domain.errors import BadSchedule
from waterclock.domain.flow import FlowRun, Graph
from waterclock.domain.message import MessageKind, NewMessage, Severity
from waterclock.domain.trigger import FireRules
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import chain_runs
from waterclock.stores.ops import chains as ops
from waterclock.stores.ops.chain_runs import ChainRun, Spans
from waterclock.stores.ops.messages import add_messages
from waterclock.stores.ops.reading import FROM_THE_NEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChain:
    chain: Chain
    last_run: FlowRun | None
    spans: Spans  # of its last runs, by node; only where one chain is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A chain from elsewhere; `faults` are what could not be carried as it was, and why it comes in OFF."""

    spec: ChainSpec
    source: str
    chain_id: int | None = None
    faults: tuple[str, ...] = ()


class Chains:
    """`probe_seconds` is the pause between probes of a chain that names none."""

    def __init__(self, database: Database, fire_rules: Mapping[str, FireRules], *, probe_seconds: float) -> None:
        self._database = database
        self._fire_rules = fire_rules
        self._probe_seconds = probe_seconds

    async def create(self, caller: Caller, spec: ChainSpec) -> ShownChain:
        caller.needs(Right.DEFINE)
        _check(spec)
        chain = await self._database.write(
            ops.create_chain,
            org_id=caller.org_id,
            owner=caller.owner,
            spec=spec,
            probe_seconds=self._probe_seconds,
        )
        return await self.get(caller, chain.id)

    async def take_in(self, caller: Caller, imported: Imported) -> ShownChain:
        """As `create`, but that an unreadable timestr brings it in OFF, with a message that says so."""
        caller.needs(Right.DEFINE)
        spec, faults = imported.spec, list(imported.faults)
        check(spec)
        _check_words(spec)
        try:
            schedule_of(spec)
        except BadSchedule as problem:
            faults.append(str(problem))
        chain = await self._database.write(
            _take_in,
            org_id=caller.org_id,
            owner=caller.owner,
            spec=replace(spec, switch=Switch.OFF) if faults else spec,
            probe_seconds=self._probe_seconds,
            chain_id=imported.chain_id,
            source=imported.source,
            faults=tuple(faults),
        )
        return await self.get(caller, chain.id)

    async def replace(self, caller: Caller, chain_id: int, spec: ChainSpec) -> ShownChain:
        """All of it, for runs that start from now on."""
        caller.needs(Right.DEFINE)
        _check(spec)
        await self._database.write(
            ops.update_chain,
            org_id=caller.org_id,
            chain_id=chain_id,
            spec=spec,
            probe_seconds=self._probe_seconds,
            allow=_owned_by(caller),
        )
        return await self.get(caller, chain_id)

    async def delete(self, caller: Caller, chain_id: int) -> ShownChain:
        caller.needs(Right.DEFINE)
        shown = await self.get(caller, chain_id)
        await self._database.write(ops.delete_chain, org_id=caller.org_id, chain_id=chain_id, allow=_owned_by(caller))
        return shown

    async def switch(self, caller: Caller, chain_id: int, switch: Switch) -> ShownChain:
        caller.needs(Right.RUN)
        await self._database.write(
            ops.switch_chain, org_id=caller.org_id, chain_id=chain_id, switch=switch, allow=lambda _: None
        )
        return await self.get(caller, chain_id)

    async def get(self, caller: Caller, chain_id: int) -> ShownChain:
        caller.needs(Right.READ)
        return await self._database.read(_show, org_id=caller.org_id, chain_id=chain_id)

    async def list(
        self, caller: Caller, page: PageRequest, *, tag: str | None = None, switch: Switch | None = None
    ) -> Page[ShownChain]:
        caller.needs(Right.READ)
        after = position("chains", page.token, (int,))
        found = await self._database.read(
            _show_many,
            org_id=caller.org_id,
            after=int(str(after[0])) if after else 0,
            limit=page.size + 1,
            tag=tag,
            switch=switch,
        )
        return page_of("chains", found, page.size, lambda shown: (shown.chain.id,))

    def plan(self, caller: Caller, spec: ChainSpec, chain_id: int = 0) -> Graph:
        """What would run, and what each part waits for; nothing is stored."""
        caller.needs(Right.READ)
        check(spec)
        _check_words(spec)
        return compile_chain(chain_id, spec, probe_seconds=self._probe_seconds)

    async def start(self, caller: Caller, chain_id: int) -> int:
        """Run now, whatever the switch says; the number of the run."""
        caller.needs(Right.RUN)
        return await self._database.write(
            chain_runs.start_chain,
            org_id=caller.org_id,
            chain_id=chain_id,
            requested_by=caller.user,
            rules=self._fire_rules,
        )

    async def stop(self, caller: Caller, run_id: int) -> None:
        """Nothing more of it begins once this is acknowledged; all of it is dead when it is KILLED."""
        caller.needs(Right.RUN)
        await self._database.write(
            chain_runs.stop_chain_run, org_id=caller.org_id, run_id=run_id, rules=self._fire_rules
        )

    async def run(self, caller: Caller, run_id: int, *, probes: int | None = None) -> ChainRun:
        """With all probes of each gate, or only the last so many."""
        caller.needs(Right.READ)
        return await self._database.read(chain_runs.get_chain_run, org_id=caller.org_id, run_id=run_id, probes=probes)

    async def runs(self, caller: Caller, chain_id: int, page: PageRequest) -> Page[FlowRun]:
        """Newest first."""
        caller.needs(Right.READ)
        before = position("runs of chain", page.token, (int, int))
        found = await self._database.read(
            chain_runs.list_chain_runs,
            org_id=caller.org_id,
            chain_id=chain_id,
            before=(int(str(before[0])), int(str(before[1]))) if before else FROM_THE_NEWEST,
            limit=page.size + 1,
        )
        return page_of("runs of chain", found, page.size, lambda run: (run.run_at, run.id))


def _check(spec: ChainSpec) -> None:
    check(spec)
    _check_words(spec)
    schedule_of(spec)


def _check_words(spec: ChainSpec) -> None:
    """Secrets that a command refers to are named as they should be; one that is not is told by its place."""
    gates = {f"deps[{number}].command": gate.command for number, gate in enumerate(spec.gates)}
    steps = {f"jobs[{number}].command": step.command for number, step in enumerate(spec.steps)}
    check_arguments(gates, steps)


def _owned_by(caller: Caller) -> Callable[[Chain], None]:
    return lambda chain: caller.owns("chain", chain.title, chain.owner)


async def _show(tx: Tx, *, org_id: int, chain_id: int) -> ShownChain:
    chain = await ops.get_chain(tx, org_id=org_id, chain_id=chain_id)
    last = await chain_runs.last_chain_runs(tx, chains=[chain])
    return ShownChain(
        chain=chain, last_run=last.get(chain.id), spans=await chain_runs.spans_of(tx, flow_id=chain.flow_id)
    )


async def _show_many(
    tx: Tx, *, org_id: int, after: int, limit: int, tag: str | None, switch: Switch | None
) -> Sequence[ShownChain]:
    chains = await ops.list_chains(tx, org_id=org_id, after=after, limit=limit, tag=tag, switch=switch)
    last = await chain_runs.last_chain_runs(tx, chains=chains)
    return [ShownChain(chain=chain, last_run=last.get(chain.id), spans={}) for chain in chains]


async def _take_in(
    tx: Tx,
    *,
    org_id: int,
    owner: str,
    spec: ChainSpec,
    probe_seconds: float,
    chain_id: int | None,
    source: str,
    faults: Sequence[str],
) -> Chain:
    chain = await ops.create_chain(
        tx, org_id=org_id, owner=owner, spec=spec, probe_seconds=probe_seconds, chain_id=chain_id, source=source
    )
    if faults:
        message = NewMessage(
            org_id=org_id,
            kind=MessageKind.IMPORTED,
            severity=Severity.WARNING,
            subject=chain.title,
            body=f"imported from {source}, switched OFF: {'; '.join(faults)}",
            chain_id=chain.id,
            tag=spec.tag,
            subtag=spec.subtag,
        )
        await add_messages(tx, [message], await tx.now())
    return chain
