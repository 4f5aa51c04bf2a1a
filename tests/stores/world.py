"""Short words for what the tests do to a store: one organisation, one namespace, one worker unless told."""

from collections.abc import Sequence
from typing import Any, Final

from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.moment import MINUTE, SECOND, Moment, seconds
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import ENDED, LIVE, Attempt, RunState
from waterclock.domain.trigger import Action, FireRules, Target, Trigger, TriggerSpec, TriggerType
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import claiming, ending, firing, jobs, reading, starting, stopping, triggers
from waterclock.stores.ops.firing import Fired
from waterclock.stores.ops.newruns import Inserted

PLACE: Final[dict[str, Any]] = {"org_id": 1, "namespace": "glue"}
EVERY_SECOND: Final = {"kind": "every", "interval": SECOND, "anchor": 0}
EVERY_MINUTE: Final = {"kind": "every", "interval": MINUTE, "anchor": 0}
TTL: Final = 60.0


class World:
    def __init__(self, database: Database, *, node: str = "node", host: str = "host") -> None:
        self.database = database
        self.me = Claimant(node=node, host=host)

    async def now(self) -> Moment:
        return await self.database.read(_now)

    def pass_time(self, seconds_: float) -> None:
        self.database.offset_us += seconds(seconds_)

    async def pass_minute(self) -> None:
        """Ten seconds into the next minute: what fires every minute is due once, and again only after 50 s."""
        self.database.offset_us += 10 * SECOND + MINUTE - await self.now() % MINUTE

    # What callers do

    async def job(self, name: str = "job", **spec: Any) -> Job:
        chosen = JobSpec(**{"kind": "shell", "max_concurrent": 0, **spec})
        return await self.database.write(
            jobs.create_job, **PLACE, name=name, owner="ann", spec=chosen, definition={"Name": name}, tags={}
        )

    async def trigger(
        self,
        name: str = "trigger",
        *actions: str | Action,
        schedule: dict[str, object] | None = None,
        kind: TriggerType = TriggerType.SCHEDULED,
        misfire: dict[str, object] | None = None,
        start: bool = True,
    ) -> Trigger:
        spec = TriggerSpec(
            type=kind,
            actions=tuple(_action(action) for action in actions or ("job",)),
            schedule=(schedule or EVERY_MINUTE) if kind is TriggerType.SCHEDULED else None,
            misfire=misfire or {},
        )
        return await self.database.write(
            triggers.create_trigger, **PLACE, name=name, owner="ann", spec=spec, definition={}, tags={}, start=start
        )

    async def fire(self, *, limit: int = 1_000, rules: FireRules | None = None) -> Fired:
        return await self.database.write(firing.fire_due, limit=limit, rules={"glue": rules} if rules else {})

    async def start(self, name: str = "job", count: int = 1, **request: Any) -> list[Inserted]:
        asked = [starting.RunRequest(job_name=name, **request)] * count
        return await self.database.write(starting.start_runs, **PLACE, requested_by="ann", requests=asked)

    async def stop(self, *wire_ids: str, job: str | None = None) -> list[stopping.StopAnswer]:
        return await self.database.write(stopping.stop_attempts, org_id=1, job_name=job, wire_ids=wire_ids)

    # What workers do

    async def claim(self, *, limit: int = 1_000, ttl: float = TTL, **claimant: Any) -> list[Claimed]:
        me = Claimant(node=self.me.node, host=self.me.host, **claimant)
        claims = await self.database.write(claiming.claim, claimant=me, limit=limit, ttl_seconds=ttl)
        return list(claims.claimed)

    async def claim_one(self) -> Attempt:
        (claimed,) = await self.claim(limit=1)
        return claimed.attempt

    async def begin(self, *attempts: Attempt) -> frozenset[int]:
        begun = [Beginning(attempt_id=each.id, fence=each.fence, pid=1, log_path=f"/{each.id}") for each in attempts]
        return await self.database.write(claiming.begin, begun)

    async def end(self, *attempts: Attempt, state: RunState = RunState.SUCCEEDED, **how: Any) -> frozenset[int]:
        outcomes = [Outcome(attempt_id=each.id, fence=each.fence, state=state, **how) for each in attempts]
        return await self.database.write(ending.end_attempts, outcomes)

    async def run_one(self, state: RunState = RunState.SUCCEEDED) -> Attempt:
        """Claim one, begin and end it."""
        attempt = await self.claim_one()
        await self.begin(attempt)
        await self.end(attempt, state=state)
        return attempt

    async def renew(self, *attempts: Attempt, ttl: float = TTL) -> frozenset[int]:
        held = [(each.id, each.fence) for each in attempts]
        return await self.database.write(claiming.renew, held=held, ttl_seconds=ttl)

    async def rescue(self, margin: float = 5) -> frozenset[int]:
        return await self.database.write(claiming.rescue, margin_seconds=margin, limit=100)

    # What is there

    async def attempt(self, wire_id: str) -> Attempt:
        found = await self.database.read(reading.get_attempt, org_id=1, wire_id=wire_id)
        assert found is not None
        return found

    async def attempts(self, states: Sequence[RunState] = tuple(LIVE | ENDED)) -> list[Attempt]:
        """Oldest first."""
        page: dict[str, Any] = {"namespaces": ["glue"], "before": reading.FROM_THE_NEWEST, "limit": 100_000}
        return (await self.database.read(reading.list_attempts, org_id=1, states=states, **page))[::-1]

    async def states(self) -> list[str]:
        """Of all attempts, oldest first."""
        return [attempt.state for attempt in sorted(await self.attempts(), key=lambda attempt: attempt.id)]


def _action(action: str | Action) -> Action:
    return action if isinstance(action, Action) else Action(target=Target.JOB, name=action)


async def _now(tx: Tx) -> Moment:
    return await tx.now()
