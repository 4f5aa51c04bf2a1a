"""From a chain to the graph that the flow driver advances: gates first, then a stage for each level. Pure."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from waterclock.domain.chain import ChainSpec, Folder, Gate, Step, chain_name
from waterclock.domain.flow import Graph, Need, Node, Stage
from waterclock.domain.gate import Probing
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, FireRules, Target

GATES: Final = "gates"
ENV: Final = "env"  # what a node's program is told about itself, by these names
COMMAND: Final = "command"
FOLDER: Final = "folder"
FIRE_AT: Final = "fire_at"  # among a run's settings: its chain's due instant, whichever level it is of
FLOW_RUN: Final = "flow_run_id"  # and the number of the chain's run


def compile_chain(chain_id: int, spec: ChainSpec, *, probe_seconds: float) -> Graph:
    """Each level needs the success of all before it; `parallel: false` makes every step a level of its own.

    `probe_seconds` is the server's, for a chain that does not say. Gates and steps are stored: they have ids.
    """
    job = chain_name(chain_id)
    stages = [Stage(id=GATES, name=GATES, nodes=tuple(_gate(job, spec, gate, probe_seconds) for gate in spec.gates))]
    if not spec.gates:
        stages = []
    for title, steps in _levels(spec):
        before = stages[-1].nodes if stages else ()
        needs = tuple(Need(nodes=(node.id,), states=(RunState.SUCCEEDED,)) for node in before)
        stages.append(Stage(id=title, name=title, nodes=tuple(_step(job, step) for step in steps), needs=needs))
    return Graph(stages=tuple(stages), rules=FireRules(sequential=False), strict=True)


def gate_node(number: int) -> str:
    return f"gate-{number}"


def step_node(number: int) -> str:
    return f"step-{number}"


def part_of(node: str) -> int:
    """The number of the gate or step that a node was made of."""
    return int(node.partition("-")[2])


def level_of(stage: Stage) -> int:
    """The step_lvl that a stage of steps was made of."""
    return int(stage.name.removeprefix("level ").partition(".")[0])


def _levels(spec: ChainSpec) -> list[tuple[str, Sequence[Step]]]:
    """With their titles, in their order: `level 2`, or `level 2.1` and `level 2.2` where one runs after another."""
    found: list[tuple[str, Sequence[Step]]] = []
    for level, group in groupby(sorted(spec.steps, key=lambda step: step.step_lvl), key=lambda step: step.step_lvl):
        steps = list(group)
        if spec.parallel or len(steps) == 1:
            found.append((f"level {level}", steps))
        else:
            found += [(f"level {level}.{number}", [step]) for number, step in enumerate(steps, start=1)]
    return found


def _gate(job: str, spec: ChainSpec, gate: Gate, probe_seconds: float) -> Node:
    return Node(
        id=gate_node(gate.id),
        title=gate.desc or gate.command,
        action=_action(job, gate.env, gate.command, Folder.DEP, gate.ottime),
        probing=Probing(
            every_seconds=spec.probe_seconds or probe_seconds,
            for_seconds=(spec.dep_ot or 0) * 60,
            tolerates=spec.dep_err_tolerance,
        ),
    )


def _step(job: str, step: Step) -> Node:
    return Node(
        id=step_node(step.id),
        title=step.job_desc or step.command,
        action=_action(job, step.env, step.command, Folder.JOB, step.ottime),
    )


def _action(job: str, env: str, command: str, folder: Folder, ottime: float) -> Action:
    return Action(
        target=Target.JOB,
        name=job,
        arguments={ENV: env, COMMAND: command, FOLDER: folder},
        timeout_seconds=math.ceil(ottime * 60),
    )
