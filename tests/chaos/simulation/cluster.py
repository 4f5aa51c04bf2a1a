"""The simulated cluster: schedulers, workers and their hosts on one store, to which a story happens."""

import itertools
from typing import Any, Final

from tests.chaos.simulation import actions as told
from tests.chaos.simulation.actions import Action, Story
from tests.chaos.simulation.faces import PLACE, Faces
from tests.chaos.simulation.hosts import Supervisor
from tests.chaos.simulation.jobs import JOBS
from tests.chaos.simulation.nodes import TTL_SECONDS, Node, SchedulerNode, WorkerNode
from tests.chaos.simulation.party import Clocks, Party
from tests.chaos.simulation.processes import World
from tests.chaos.simulation.stores import Reached, Store
from tests.chaos.simulation.timeline import SimulatedLoop, Timeline
from waterclock.domain.access import Role
from waterclock.domain.moment import MINUTE
from waterclock.engine.work import StoreWork
from waterclock.runners.supervisor.attempts import Attempts as Book
from waterclock.stores.ops import access
from waterclock.stores.ops.jobs import create_job

ROUND_SECONDS: Final = 0.75
SKEWS: Final = (0, 60 * MINUTE, -60 * MINUTE, MINUTE // 2)


class Cluster:
    """Nodes are numbered: schedulers first. Numbers that are too large begin again at the first."""

    def __init__(self, story: Story, store: Store, timeline: Timeline, loop: SimulatedLoop) -> None:
        self.story = story
        self.store = store
        self.timeline = timeline
        self.loop = loop
        self.world = World(timeline)
        self.bugs: list[str] = []
        self._numbers = itertools.count(1)
        self._clients: list[Party] = []
        self.faces = Faces(store, timeline, self._client, self.bugs)
        self._clocks = [
            Clocks(1_000.0 * number, SKEWS[number % len(SKEWS)]) for number in range(story.schedulers + story.workers)
        ]
        self.supervisors = [self._supervisor(story.schedulers + number) for number in range(story.workers)]
        self.nodes: list[Node] = []

    def begin(self) -> None:
        self.loop.run_until_complete(self._furnish())
        for number in range(len(self._clocks)):
            self.nodes.append(self._boot(number))
        for number, plan in enumerate(self.story.plans):
            self.faces.make_trigger(f"trigger {number}", plan)
        self.loop.settle()

    # What happens to it

    def perform(self, action: Action) -> None:
        match action:
            case told.Pass():
                self.loop.pass_time(action.seconds)
            case told.Round():
                self.round(action.first)
                for number in range(action.more):
                    self.loop.pass_time(ROUND_SECONDS)
                    self.round(action.first + number)
            case told.Tick():
                self._tick(action)
            case told.Pause():
                self._node(action.node).party.pause()
            case told.CutOff():
                self._cut_off(action.node % len(self.nodes))
            case told.Resume():
                self._resume(action.node % len(self.nodes))
            case told.Crash():
                self._node(action.node).party.die()
            case told.Boot():
                self._boot_again(action)
            case told.Leave():
                self._leave(action)
            case told.Fall():
                self._fall(action)
            case _:
                self._ask(action)
        self.loop.settle()

    def round(self, first: int = 0) -> None:
        count = len(self.nodes)
        for number in range(count):
            node = self.nodes[(first + number) % count]
            for duty in tuple(node.duties):
                node.tick(duty)
                self.loop.settle()
        for supervisor in self.supervisors:
            self._renew(supervisor)

    def recover(self) -> None:
        """No more faults: whoever stands still goes on, whoever is dead is replaced."""
        for party in (*self._clients, *(node.party for node in self.nodes), *(each.party for each in self.supervisors)):
            party.arm(())
            party.resume()
        self.loop.settle()
        for number, node in enumerate(self.nodes):
            if node.party.is_dead:
                self.nodes[number] = self._boot(number)
        self.loop.settle()

    def close(self) -> None:
        """Nobody lives on."""
        for party in (*self._clients, *(node.party for node in self.nodes), *(each.party for each in self.supervisors)):
            party.die()
        self.loop.settle()
        self.loop.run_until_complete(self.store.close())
        self.loop.close()

    def _tick(self, action: told.Tick) -> None:
        if action.duty == "supervisor":
            supervisor = self.supervisors[action.node % len(self.supervisors)]
            supervisor.party.arm(action.faults)
            self._renew(supervisor)
            return
        able = [node for node in self.nodes if action.duty in node.duties]
        if able:
            node = able[action.node % len(able)]
            node.party.arm(action.faults)
            node.tick(action.duty)

    def _renew(self, supervisor: Supervisor) -> None:
        if supervisor.party.is_up and (supervisor.round is None or supervisor.round.done()):
            supervisor.round = supervisor.party.begin(supervisor.tick())
            self.loop.settle()
        if supervisor.party.is_dead:  # of a fault: its worker starts another
            self._fall(told.Fall(self.supervisors.index(supervisor)))

    def _cut_off(self, number: int) -> None:
        for party in self._parties_of(number):
            party.is_cut_off = True

    def _resume(self, number: int) -> None:
        for party in (*self._parties_of(number), *self._clients):
            party.resume()

    def _parties_of(self, number: int) -> list[Party]:
        """Those of a node's host."""
        at = number - self.story.schedulers
        return [self.nodes[number].party, *([self.supervisors[at].party] if at >= 0 else [])]

    def _boot_again(self, action: told.Boot) -> None:
        number = action.node % len(self.nodes)
        if self.nodes[number].party.is_dead:
            self.nodes[number] = self._boot(number, action.faults)

    def _leave(self, action: told.Leave) -> None:
        node = self._node(action.node)
        if isinstance(node, WorkerNode) and node.party.is_up:
            node.party.arm(action.faults)
            node.party.begin(node.leave())

    def _fall(self, action: told.Fall) -> None:
        number = action.host % len(self.supervisors)
        dead, node = self.supervisors[number], self.nodes[self.story.schedulers + number]
        dead.fall()
        if action.whole:
            node.party.die()
        after = self.supervisors[number] = self._supervisor(self.story.schedulers + number)
        after.inherit(Book() if action.whole and action.forgets else dead.attempts)
        if isinstance(node, WorkerNode) and not node.party.is_dead:
            node.line.connect(after)

    def _ask(self, action: Any) -> None:
        names = list(self.faces.asked.windows)
        trigger = names[action.trigger % len(names)] if hasattr(action, "trigger") else ""
        match action:
            case told.StartRun():
                if not self.faces.may_repeat(action.call):
                    return
                party = self.faces.call(action.call, action.job)
            case told.StopRun():
                found = self.loop.run_until_complete(
                    self.store.peek("SELECT wire_id FROM attempts ORDER BY id DESC LIMIT 5")
                )
                if not found:
                    return
                party = self.faces.stop_run(found[action.run % len(found)]["wire_id"])
            case told.StopTrigger():
                party = self.faces.stop_trigger(trigger, stop_runs=action.stop_runs)
            case told.StartTrigger():
                party = self.faces.start_trigger(trigger)
            case told.UpdateTrigger():
                party = self.faces.update_trigger(trigger, action.plan)
            case _:
                raise AssertionError(f"nobody knows what to do about {action}")
        party.arm(action.faults)

    # Who is there

    def _node(self, number: int) -> Node:
        return self.nodes[number % len(self.nodes)]

    def _party(self, name: str, number: int) -> Party:
        return Party(f"{name}-{next(self._numbers)}", self._clocks[number], self.timeline, self.loop)

    def _client(self) -> Party:
        self._clients.append(self._party("client", 0))
        return self._clients[-1]

    def _supervisor(self, number: int) -> Supervisor:
        party = self._party("supervisor", number)
        leases = StoreWork(Reached(self.store, party))
        return Supervisor(f"host-{number}", party, self.world, leases, TTL_SECONDS)

    def _boot(self, number: int, faults: told.Faults = ()) -> Node:
        if number < self.story.schedulers:
            party = self._party("scheduler", number)
            party.arm(faults)
            return SchedulerNode(party, Reached(self.store, party), self.bugs)
        party = self._party("worker", number)
        party.arm(faults)
        supervisor = self.supervisors[number - self.story.schedulers]
        worker = WorkerNode(party, Reached(self.store, party), supervisor, self.bugs)
        party.begin(worker.open())
        return worker

    async def _furnish(self) -> None:
        async def made(tx: Any) -> None:
            organisation = await access.create_organisation(tx, account="123456789012", name="simulated")
            assert organisation.id == PLACE["org_id"]
            await access.create_user(tx, org_id=organisation.id, name="ann", role=Role.AUTHOR)
            for name, job in JOBS.items():
                values: dict[str, Any] = {"owner": "ann", "spec": job.spec, "definition": {}, "tags": {}}
                await create_job(tx, **PLACE, name=name, **values)

        await self.store.do(made)
