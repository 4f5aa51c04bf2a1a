"""Short words for what the tests do to chains: a worker of the role main lives, unless it is told otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.stores.world import World
from waterclock.domain.chain import Chain, ChainSpec, Gate, Step, Switch, chain_name
from waterclock.domain.claim import Claimed
from waterclock.domain.flow import FlowRun
from waterclock.domain.gate import Verdict
from waterclock.domain.message import Message
from waterclock.domain.role import Role
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import Fire, FireRules, Trigger
from waterclock.stores.ops import chain_runs, chains, firing, messages, nodes, triggers
from waterclock.stores.ops.chain_runs import ChainRun
from waterclock.stores.ops.firing import Fired
from waterclock.stores.ops.reading import FROM_THE_NEWEST

PLACE: Final[dict[str, Any]] = {"org_id": 1, "namespace": "chains"}
RULES: Final = {"chains": FireRules(sequential=False)}
EVERY_MINUTE: Final = "* * * * *"
PROBE_SECONDS: Final = 30.0
MINUTES: Final = 2.0  # that the gates have
PASSED, NOT_YET, ERROR = Verdict


class Chaining(World):
    async def lives(self, *roles: Role) -> None:
        """A heartbeat of a worker of each."""
        for role in roles or (Role.MAIN,):
            node = nodes.Node(
                id=role, host=role, name=role, duties=("worker",), role=role, version="0", pid=1, started_at=0
            )
            await self.database.write(nodes.beat, node=node, wall_us=await self.now())

    async def chain(self, *levels: int, gates: int = 0, chain_id: int | None = None, **more: Any) -> Chain:
        """Steps `s1.py`, `s2.py`, … of these levels behind so many gates `g1.py`, …"""
        return await self.database.write(
            chains.create_chain,
            org_id=1,
            owner="ann",
            spec=spec(*levels, gates=gates, **more),
            probe_seconds=PROBE_SECONDS,
            chain_id=chain_id,
        )

    async def update(self, chain: Chain, changed: ChainSpec) -> Chain:
        key: dict[str, Any] = {"org_id": 1, "chain_id": chain.id, "allow": lambda _: None}
        return await self.database.write(chains.update_chain, **key, spec=changed, probe_seconds=PROBE_SECONDS)

    async def switch(self, chain: Chain, switch: Switch) -> Chain:
        key: dict[str, Any] = {"org_id": 1, "chain_id": chain.id, "allow": lambda _: None}
        return await self.database.write(chains.switch_chain, **key, switch=switch)

    async def delete(self, chain: Chain) -> Chain:
        return await self.database.write(chains.delete_chain, org_id=1, chain_id=chain.id, allow=lambda _: None)

    async def fire_chains(self, rules: Mapping[str, FireRules] = RULES) -> Fired:
        return await self.database.write(firing.fire_due, limit=1_000, rules=rules)

    async def start_chain(self, chain: Chain) -> int:
        return await self.database.write(
            chain_runs.start_chain, org_id=1, chain_id=chain.id, requested_by="bob", rules=RULES
        )

    async def stop_run(self, run_id: int) -> None:
        await self.database.write(chain_runs.stop_chain_run, org_id=1, run_id=run_id, rules=RULES)

    # What workers do

    async def take(self, *, roles: Sequence[str] = (Role.MAIN,), **more: Any) -> dict[str, Attempt]:
        """All that can be claimed now, begun; by their scripts, without the ending."""
        claimed: list[Claimed] = await self.claim(roles=("", *roles), **more)
        attempts = [each.attempt for each in claimed]
        await self.begin(*attempts)
        return {each.arguments["command"].removesuffix(".py"): each for each in attempts}

    async def probed(self, attempt: Attempt, verdict: Verdict, **how: Any) -> frozenset[int]:
        state = RunState.FAILED if verdict is Verdict.ERROR else RunState.SUCCEEDED
        return await self.end(attempt, **{"state": state, "verdict": verdict, **how})

    async def finish(self, **otherwise: Any) -> list[str]:
        """All that can be claimed now ends well, or in the state it is told; what it was."""
        taken = await self.take()
        for script, attempt in taken.items():
            if script.startswith("g"):
                await self.probed(attempt, otherwise.get(script, PASSED))
            else:
                await self.end(attempt, state=otherwise.get(script, RunState.SUCCEEDED))
        return sorted(taken)

    async def finish_all(self) -> list[list[str]]:
        rounds = []
        while scripts := await self.finish():
            rounds.append(scripts)
        return rounds

    # What is there

    async def whole(self, run_id: int) -> ChainRun:
        return await self.database.read(chain_runs.get_chain_run, org_id=1, run_id=run_id)

    async def run(self, run_id: int) -> FlowRun:
        return (await self.whole(run_id)).run

    async def runs(self, chain: Chain) -> list[FlowRun]:
        """Newest first."""
        page: dict[str, Any] = {"before": FROM_THE_NEWEST, "limit": 1_000}
        return await self.database.read(chain_runs.list_chain_runs, org_id=1, chain_id=chain.id, **page)

    async def only_run(self, chain: Chain) -> FlowRun:
        (run,) = await self.runs(chain)
        return run

    async def nodes(self, run_id: int) -> dict[str, str]:
        """The states of those that have begun, by their scripts."""
        shown = await self.whole(run_id)
        scripts = {node.id: node.action.arguments["command"].removesuffix(".py") for node in shown.run.graph.nodes}
        return {scripts[node]: row["state"] for node, row in shown.nodes.items()}

    async def probes(self, run_id: int, gate: str = "g1") -> list[Attempt]:
        shown = await self.whole(run_id)
        node = next(node.id for node in shown.run.graph.nodes if node.action.arguments["command"] == f"{gate}.py")
        return sorted(shown.attempts[node], key=lambda attempt: attempt.number)

    async def messages(self) -> list[Message]:
        """Oldest first."""
        found = await self.database.read(messages.list_messages, org_id=1, before=2**62, limit=1_000)
        return found[::-1]

    async def trigger_of(self, chain: Chain) -> Trigger:
        name = chain_name(chain.id)
        return (await self.database.read(triggers.get_triggers, **PLACE, names=[name]))[name]

    async def fires(self, chain: Chain) -> list[Fire]:
        """Oldest first."""
        trigger = await self.trigger_of(chain)
        page: dict[str, Any] = {"before": 2**62, "limit": 1_000}
        return (await self.database.read(triggers.list_fires, org_id=1, trigger_id=trigger.id, **page))[::-1]


def spec(*levels: int, gates: int = 0, **more: Any) -> ChainSpec:
    steps = tuple(Step(command=f"s{n}.py", step_lvl=level, ottime=5) for n, level in enumerate(levels or (1,), start=1))
    made = tuple(Gate(command=f"g{n}.py", ottime=1, desc=f"gate {n}") for n in range(1, gates + 1))
    given = {"timestr": EVERY_MINUTE, "dep_ot": MINUTES if gates else None, **more}
    return ChainSpec(steps=steps, gates=made, **given)
