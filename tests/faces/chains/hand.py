"""A worker by hand for chains, and a chain for it: what is begun is known by its command."""

import asyncio
from typing import Any

import httpx

from tests.faces.api.serving import PATIENCE_SECONDS
from waterclock.domain.claim import Claimant
from waterclock.domain.gate import Verdict
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.role import Role
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules
from waterclock.engine.work import StoreWork
from waterclock.stores.base import Database
from waterclock.stores.ops import nodes
from waterclock.stores.ops.firing import fire_due

RULES = {"chains": FireRules(sequential=False)}


def body(**more: Any) -> dict[str, Any]:
    """A gate, two steps side by side, one after them, one at last; any worker may run it."""
    return {
        "job_desc": "orders",
        "timestr": "10 2 * * *",
        "dep_ot": 90,
        "main_flag": 0,
        "probe_seconds": 0.001,
        "deps": [{"env": "/bin/sh", "command": "arrived/orders.sh", "desc": "orders are there", "ottime": 1}],
        "jobs": [
            {"command": "orders/load.py;eu", "step_lvl": 1, "job_desc": "load EU", "ottime": 30},
            {"command": "orders/load.py;us", "step_lvl": 1, "ottime": 0.5},
            {"command": "orders/sum.py", "step_lvl": 2, "ottime": 10},
            {"command": "orders/mail.py", "step_lvl": 5, "ottime": 10},
        ],
        **more,
    }


async def made(chains: httpx.AsyncClient, **more: Any) -> Any:
    answer = await chains.post("/chains", json=body(**more))
    assert answer.status_code == 201, answer.text
    return answer.json()


async def started(chains: httpx.AsyncClient, chain_id: int) -> int:
    answer = await chains.post(f"/chains/{chain_id}/run")
    assert answer.status_code == 201, answer.text
    assert answer.json().keys() == {"run_id"}
    return int(answer.json()["run_id"])


async def shown(chains: httpx.AsyncClient, run_id: int) -> Any:
    answer = await chains.get(f"/chains/runs/{run_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def states(run: Any) -> dict[str, str]:
    """Of the steps, by their commands without the folder."""
    steps = [step for level in run["levels"] for step in level["steps"]]
    return {step["command"].partition("/")[2]: step["state"] for step in steps}


class ChainHand:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._work = StoreWork(database, RULES)
        self._claimant = Claimant(node="node-1", host="host-1", roles=("", Role.MAIN))

    async def main_lives(self) -> None:
        node = nodes.Node(id="node-1", host="host-1", name="one", duties=("worker",), role="main", version="0", pid=1)
        await self._database.write(nodes.beat, node=node, wall_us=0)

    async def fire(self) -> None:
        await self._database.write(fire_due, limit=100, rules=RULES)

    async def begin(self) -> dict[str, Attempt]:
        """All that there is to do now."""
        claims = await self._work.claim(self._claimant, limit=100, ttl_seconds=60)
        attempts = [claimed.attempt for claimed in claims.claimed]
        await self._work.record([Beginning(attempt_id=each.id, fence=each.fence, pid=1) for each in attempts], [])
        return {each.arguments["command"].partition("/")[2]: each for each in attempts}

    async def end(self, attempt: Attempt, state: RunState = RunState.SUCCEEDED, **more: Any) -> None:
        outcome = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state, **{"exit_code": 0, **more})
        await self._work.record([], [outcome])

    async def probe(self, verdict: Verdict, **more: Any) -> None:
        """The one gate, as soon as its pause is over."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (begun := await self.begin()):
                await asyncio.sleep(0.001)
        (attempt,) = begun.values()
        state = RunState.FAILED if verdict is Verdict.ERROR else RunState.SUCCEEDED
        await self.end(attempt, state, **{"verdict": verdict, **more})

    async def finish(self) -> None:
        """The gate and all steps, well."""
        await self.probe(Verdict.PASSED)
        while begun := await self.begin():
            for attempt in begun.values():
                await self.end(attempt)
