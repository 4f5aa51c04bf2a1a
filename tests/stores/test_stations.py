"""Workers over HTTP in every store: each sees its organisation alone, and touches only what it has claimed itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stores.world import World
from waterclock.domain.access import Caller, Role
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.errors import CannotRun, Forbidden, InvalidInput, NotAllowed, Unavailable
from waterclock.domain.job import JobSpec
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.work import WorkService
from waterclock.stores.ops import jobs, starting
from waterclock.stores.ops.nodes import NO_PULSE, Node, beat, find_node
from waterclock.stores.ops.roles import living_roles
from waterclock.stores.ops.span import ALL

LATER = 2**60
RACK = Caller(user="rack", org_id=1, account="", role=Role.WORKER, address="", request_id="")
THEIRS = Caller(user="theirs", org_id=2, account="", role=Role.WORKER, address="", request_id="")
ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")


class Station:
    """A worker with a token."""

    def __init__(self, service: WorkService, caller: Caller, name: str = "far") -> None:
        self.service, self.caller = service, caller
        self.host, self.node = f"host {name}", f"node {name}"
        self.me = Claimant(node=self.node, host=self.host)

    async def join(self) -> "Station":
        record = Node(
            id=self.node,
            host=self.host,
            name="rack",
            duties=("scheduler",),
            role="main",
            queues=("default",),
            version="1",
            pid=1,
        )
        await self.service.beat(self.caller, record, 0, NO_PULSE)
        return self

    async def claim(self, *, until: int = LATER, limit: int = 10, ttl: float = 60) -> list[Claimed]:
        claims = await self.service.claim(self.caller, self.me, limit=limit, ttl_seconds=ttl, until=until)
        return list(claims.claimed)

    async def begin(self, attempt: Attempt, log_path: str = "/etc/passwd") -> frozenset[int]:
        begun = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=7, log_path=log_path)
        return await self.service.record(self.caller, self.host, [begun], [])

    async def end(self, attempt: Attempt, **how: Any) -> frozenset[int]:
        end = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=RunState.SUCCEEDED, **how)
        return await self.service.record(self.caller, self.host, [], [end])

    async def renew(self, attempt: Attempt) -> frozenset[int]:
        return await self.service.renew(self.caller, self.host, [(attempt.id, attempt.fence)], 60)


@pytest.fixture
def secrets(world: World, tmp_path: Path) -> Secrets:
    return Secrets(world.database, SecretBox(tmp_path / "secret.keys"))


@pytest.fixture
def service(world: World, secrets: Secrets) -> WorkService:
    return WorkService(world.database, {}, secrets)


@pytest.fixture
async def far(service: WorkService) -> Station:
    return await Station(service, RACK).join()


async def test_it_runs_what_its_organisation_has_and_nothing_else(
    world: World, service: WorkService, far: Station
) -> None:
    await world.job()
    await world.start()
    theirs = await Station(service, THEIRS, "theirs").join()
    await _start_elsewhere(world)
    (mine,), (other,) = await far.claim(), await theirs.claim()
    assert (mine.attempt.org_id, other.attempt.org_id) == (1, 2)
    assert await far.begin(mine.attempt) == frozenset()
    assert await far.renew(mine.attempt) == {mine.attempt.id}
    await far.end(mine.attempt)
    found = await world.attempt(mine.attempt.wire_id)
    assert (found.state, found.pid) == (RunState.SUCCEEDED, 7)
    assert await far.end(mine.attempt) == frozenset()  # said again: the answer may have been lost


async def test_a_worker_names_no_file_of_the_server(world: World, far: Station) -> None:
    await world.job()
    await world.start()
    (held,) = await far.claim()
    await far.begin(held.attempt, log_path="../../another/log")
    path = (await world.attempt(held.attempt.wire_id)).log_path
    assert path is not None
    assert path.endswith(f"/{held.attempt.wire_id}.log")
    assert not path.startswith(("/", "."))


async def test_it_is_registered_as_a_worker_of_its_organisation(world: World, far: Station) -> None:
    found = await world.database.read(find_node, node_id=far.node)
    assert found is not None
    assert (found.org_id, found.duties) == (1, ("worker",))
    await far.service.leave(far.caller, far.host, far.node)
    assert await world.database.read(find_node, node_id=far.node) is None


async def test_it_is_no_sign_of_life_of_its_role(world: World, far: Station) -> None:
    """It runs nothing for other organisations: their chains must not wait for it."""
    record = Node(id="b", host="b", name="b", duties=("worker",), role="bkp", version="1", pid=1)
    await world.database.write(beat, node=record, wall_us=0)
    assert await world.database.read(living_roles, rules=FireRules()) == {"bkp"}


@pytest.mark.parametrize("owner", ["a database worker", "another host", "another organisation"])
async def test_what_others_hold_is_out_of_reach_whatever_is_guessed(
    world: World, service: WorkService, far: Station, secrets: Secrets, owner: str
) -> None:
    """The attempt, its fence, its node and its host are all known to the one who tries."""
    await secrets.put(ANN, "pass", "long enough")
    held, host, node = await _held_by(owner, world, service)
    eve = Station(service, far.caller)
    eve.host, eve.node = host, node
    for robber in (far, eve):
        assert await robber.begin(held) == {held.id}
        assert await robber.end(held) == frozenset()
        assert await robber.renew(held) == frozenset()
        assert await service.stopping(robber.caller, robber.host, node) == []
        for tried in (
            lambda r: service.release(r.caller, r.host, node, [held.id]),
            lambda r: service.give_back(r.caller, Claimant(node=node, host=r.host), [], until=LATER),
            lambda r: service.adopt(r.caller, Claimant(node=node, host=r.host), ttl_seconds=60),
            lambda r: service.leave(r.caller, r.host, node),
            lambda r: service.secrets(r.caller, r.host, held.id, held.fence, ["pass"]),
            lambda r: service.masks(r.caller, r.host, held.id, held.fence, ["pass"]),
            lambda r: service.check_log(r.caller, r.host, held.id, held.fence),
        ):
            await _refused(tried, robber)
    assert await service.adopt(far.caller, far.me, ttl_seconds=60) == []
    if owner != "another host":  # there it is the same worker
        with pytest.raises(Forbidden, match="is not this worker's"):
            await eve.join()
    found = await _attempt(world, held)
    assert (found["state"], found["fence"], found["node"]) == ("STOPPING", held.fence, held.node)


async def test_a_claim_that_comes_late_is_not_done(world: World, far: Station) -> None:
    await world.job()
    await world.start()
    with pytest.raises(Unavailable, match="too late"):
        await far.claim(until=await world.now() - 1)
    with pytest.raises(Unavailable, match="too late"):
        await far.service.give_back(far.caller, far.me, [], until=await world.now() - 1)
    assert len(await far.claim(until=await world.now() + 60_000_000)) == 1


async def test_a_claim_whose_answer_was_lost_is_given_back(world: World, far: Station) -> None:
    await world.job()
    await world.start(count=2)
    (known,) = await far.claim(limit=1)
    await far.claim()
    await far.service.give_back(far.caller, far.me, [known.attempt.id], until=LATER)
    (again,) = await far.claim()
    assert again.attempt.fence == 2
    await far.service.release(far.caller, far.host, far.node, [again.attempt.id])
    assert [each.attempt.id for each in await far.claim()] == [again.attempt.id]


async def test_a_worker_that_restarts_adopts_and_says_so_as_often_as_it_is_asked(
    world: World, service: WorkService, far: Station
) -> None:
    await world.job()
    await world.start()
    (held,) = await far.claim()
    again = Station(service, RACK)
    again.node, again.me = "a second node", Claimant(node="a second node", host=far.host)
    await again.join()
    for _ in range(2):
        (adopted,) = await service.adopt(again.caller, again.me, ttl_seconds=60)
        assert (adopted.attempt.id, adopted.attempt.node) == (held.attempt.id, again.node)
    await world.stop(held.attempt.wire_id)
    assert await service.stopping(again.caller, again.host, again.node) == [held.attempt.id]


async def test_secrets_are_given_only_to_who_holds_a_run_that_refers_to_them(
    world: World, service: WorkService, far: Station, secrets: Secrets
) -> None:
    for version in ("first one", "second one"):
        await secrets.put(ANN, "pass", version)
    await secrets.put(ANN, "other", "not for this run")
    await world.job(default_arguments={"--url": "{{secret:pass}}", "--more": "{{secret:unset}}"})
    await world.start()
    (held,) = await far.claim(ttl=60)
    asked = (far.caller, far.host, held.attempt.id, held.attempt.fence)
    assert await service.secrets(*asked, ["pass"]) == {"pass": "second one"}
    assert sorted(await service.masks(*asked, ["pass"])) == ["first one", "second one"]
    with pytest.raises(CannotRun, match="there is no secret 'unset'"):
        await service.secrets(*asked, ["pass", "unset"])
    with pytest.raises(Forbidden, match="do not refer to the secret 'other'"):
        await service.secrets(*asked, ["pass", "other"])
    world.pass_time(61)
    with pytest.raises(NotAllowed, match="is not held by this worker"):
        await service.secrets(*asked, ["pass"])


@pytest.mark.parametrize("how", [{"verdict": "maybe"}, {"exit_code": 2**40}])
async def test_an_end_that_no_row_could_hold_is_refused(world: World, far: Station, how: dict[str, Any]) -> None:
    await world.job()
    await world.start()
    (held,) = await far.claim()
    with pytest.raises(InvalidInput):
        await far.end(held.attempt, **how)


async def test_nobody_but_a_worker_may(world: World, service: WorkService) -> None:
    for role in Role:
        if role is not Role.WORKER:
            with pytest.raises(Forbidden):
                await Station(
                    service, Caller(user="x", org_id=1, account="", role=role, address="", request_id="")
                ).join()


async def _held_by(owner: str, world: World, service: WorkService) -> tuple[Attempt, str, str]:
    """An attempt that is to be stopped, and what its worker calls its host and its node."""
    if owner == "another organisation":
        await _start_elsewhere(world)
        theirs = await Station(service, THEIRS, "theirs").join()
        (held,) = await theirs.claim()
        host, node = theirs.host, theirs.node
    else:
        await world.job(default_arguments={"--url": "{{secret:pass}}"})
        await world.start()
        if owner == "a database worker":
            record = Node(id="node", host="host", name="near", duties=("worker",), version="1", pid=1)
            await world.database.write(beat, node=record, wall_us=0)
            (held,), host, node = await world.claim(), "host", "node"
        else:
            beside = await Station(service, RACK, "beside").join()
            (held,), host, node = await beside.claim(), "host far", beside.node
    await world.database.write(_stop, attempt=held.attempt)
    return held.attempt, host, node


async def _start_elsewhere(world: World) -> None:
    place: dict[str, Any] = {"org_id": 2, "namespace": "glue"}
    spec = JobSpec(kind="shell", default_arguments={"--url": "{{secret:pass}}"})
    await world.database.write(jobs.create_job, **place, name="theirs", owner="eve", spec=spec, definition={}, tags={})
    request = starting.RunRequest(job_name="theirs")
    await world.database.write(starting.start_runs, **place, requested_by="eve", requests=[request])


async def _stop(tx: Any, *, attempt: Attempt) -> None:
    key = {"id": attempt.id, "run_at": attempt.run_at, "was": "STARTING", "now": await tx.now()}
    await tx.run("stop_attempt", key)


async def _attempt(world: World, attempt: Attempt) -> Any:
    async def read(tx: Any) -> Any:
        (row,) = await tx.fetch("lock_attempts", {"ids": [attempt.id], **ALL})
        return dict(row)

    return await world.database.write(read)


async def _refused(tried: Callable[[Station], Any], robber: Station) -> None:
    with pytest.raises((Forbidden, NotAllowed)):
        await tried(robber)
