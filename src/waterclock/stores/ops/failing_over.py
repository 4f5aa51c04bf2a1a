"""Failover: a run whose role is down goes on at the other, or ends there and then; never on both.

A claim and this operation meet at the attempt's row: whoever locks it first has it, and the other finds it changed. So
a run is touched only when every attempt of it that nobody has claimed is held here; what a worker has claimed is left
to its lease. A role that drains gives away what has not begun; what has waits for it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.message import MessageKind, NewMessage, Severity
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Outcome
from waterclock.domain.role import NODE_ROLES, NotNow, Role, roles_of, who_goes_on
from waterclock.domain.run import LIVE, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Topic, Tx
from waterclock.stores.ops.chain_failing import chains_of_flows, with_chain
from waterclock.stores.ops.ending import end_locked
from waterclock.stores.ops.marking import is_unclaimed
from waterclock.stores.ops.messages import add_messages
from waterclock.stores.ops.reach import lock_reach
from waterclock.stores.ops.roles import beating_roles, living_roles


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedOver:
    """What one page of runs came to; the next begins behind `next_after`."""

    moved: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()
    next_after: int | None = None


@dataclass(slots=True)
class _Stranded:
    """A flow run whose role is down, held."""

    run: Row
    idle: list[Row] = field(default_factory=list)  # attempts that nobody has claimed
    taken: list[Row] = field(default_factory=list)  # live, and some worker's until its lease ends
    begun: bool = False  # a worker took a step of it
    goes_to: Role | None = None  # None: to nobody, for this reason
    reason: str = ""

    @property
    def moves(self) -> bool:
        return self.goes_to is not None

    @property
    def ends(self) -> bool:
        """Only when nothing of it may still come to an end of its own."""
        return self.goes_to is None and bool(self.idle) and not self.taken

    def add(self, attempt: Row) -> None:
        self.begun = self.begun or bool(attempt["is_step"] and attempt["node"] is not None)
        if is_unclaimed(attempt):
            self.idle.append(attempt)
        elif attempt["state"] in LIVE:
            self.taken.append(attempt)

    def decide(self, flagged: Collection[Role], living: Collection[Role]) -> None:
        match who_goes_on(Role(self.run["role"]), flagged, living, begun=self.begun):
            case NotNow(reason=reason):
                self.reason = reason
            case role:
                self.goes_to = role


async def stranded_roles(tx: Tx, *, rules: Mapping[str, FireRules]) -> frozenset[Role]:
    """Those that are down while live runs are theirs."""
    given = frozenset(Role(row["role"]) for row in await tx.fetch("roles_with_work"))
    return given - await living_roles(tx, rules.get(CHAINS, FireRules())) if given else given


async def fail_over(tx: Tx, *, rules: Mapping[str, FireRules], after: int, limit: int) -> FailedOver:
    """Of up to `limit` runs behind the number `after`; who lives is asked again, here."""
    living = await living_roles(tx, rules.get(CHAINS, FireRules()))
    down = [role for role in NODE_ROLES if role not in living]
    if not down:
        return FailedOver()
    page = await tx.fetch("flow_run_ids_of_roles", {"roles": down, "after": after, "limit": limit})
    ids = [row["id"] for row in page]
    drains = await beating_roles(tx, rules.get(CHAINS, FireRules())) - living
    found = [each for each in await _lock(tx, ids, down, living) if each.moves or each.run["role"] not in drains]
    ending = _idle_ids(each for each in found if each.ends)
    reach = await lock_reach(tx, ending, rules) if ending else None
    fences = await _fences(tx, _idle_ids(each for each in found if each.ends or each.moves))
    held = [each for each in found if all(attempt["id"] in fences for attempt in each.idle)]
    moved, ended = [each for each in held if each.moves], [each for each in held if each.ends]
    now = await tx.now()
    await _hand_over(tx, moved, now)
    if ended and reach:
        await end_locked(tx, [_end(each, fences) for each in ended], reach, now)
    return FailedOver(
        moved=tuple(each.run["id"] for each in moved),
        ended=tuple(each.run["id"] for each in ended),
        next_after=ids[-1] if len(ids) == limit else None,
    )


async def _lock(tx: Tx, ids: Sequence[int], down: Sequence[Role], living: Collection[Role]) -> list[_Stranded]:
    rows = await tx.fetch("lock_stranded_flow_runs", {"ids": ids, "roles": down}) if ids else ()
    found = {row["id"]: _Stranded(row) for row in rows}
    if not found:
        return []
    for attempt in await tx.fetch("stranded_attempts", {"flow_run_ids": sorted(found)}):
        found[attempt["flow_run_id"]].add(attempt)
    flow_ids = sorted({row["flow_id"] for row in rows})
    flagged = {row["id"]: roles_of(row["roles"]) for row in await tx.fetch("roles_of_flows", {"ids": flow_ids})}
    for each in found.values():
        each.decide(flagged.get(each.run["flow_id"], ()), living)
    return list(found.values())


async def _fences(tx: Tx, ids: Sequence[int]) -> dict[int, int]:
    """Of those that could be locked: a worker that came back in this moment may be winning the others."""
    rows = await tx.fetch("lock_unclaimed_attempts", {"ids": ids}) if ids else ()
    return {row["id"]: row["fence"] for row in rows}


async def _hand_over(tx: Tx, moved: Sequence[_Stranded], now: Moment) -> None:
    if not moved:
        return
    by_role = sorted(moved, key=lambda each: (each.goes_to or "", each.run["id"]))
    for role, group in groupby(by_role, key=lambda each: each.goes_to):
        mine, same = list(group), {"role": role, "now": now}
        await tx.run("hand_over_flow_runs", {**same, "ids": [each.run["id"] for each in mine]})
        if idle := _idle_ids(mine):
            await tx.run("hand_over_attempts", {**same, "ids": idle})
        run_ids = sorted({attempt["run_id"] for each in mine for attempt in (*each.idle, *each.taken)})
        await tx.run("hand_over_runs", {**same, "ids": run_ids})
    tx.wake(Topic.ATTEMPTS)
    chains = await chains_of_flows(tx, {each.run["flow_id"] for each in moved})
    await add_messages(tx, [_message(each, chains.get(each.run["flow_id"])) for each in moved], now)


def _end(stranded: _Stranded, fences: Mapping[int, int]) -> Outcome:
    """One end fails the whole run: what else of it has not begun is given up with it."""
    first = stranded.idle[0]["id"]
    return Outcome(attempt_id=first, fence=fences[first], state=RunState.FAILED, message=stranded.reason, final=True)


def _message(stranded: _Stranded, chain: Row | None) -> NewMessage:
    run = stranded.run
    message = NewMessage(
        org_id=run["org_id"],
        kind=MessageKind.FAILOVER,
        severity=Severity.WARNING,
        subject=run["flow_name"],
        body=f"{run['role']} is down: run {run['id']} goes on at {stranded.goes_to}; no step of it had begun",
        flow_run_id=run["id"],
    )
    return with_chain(message, chain)


def _idle_ids(stranded: Iterable[_Stranded]) -> list[int]:
    return sorted(attempt["id"] for each in stranded for attempt in each.idle)
