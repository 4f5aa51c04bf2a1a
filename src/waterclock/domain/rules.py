"""The two rule sets of the Glue face, side by side: the seeds' decisions (guarded), and what AWS does.

|                                             | guarded                     | aws                    |
|---------------------------------------------|-----------------------------|------------------------|
| the actions of one fire                     | one after another           | all at once            |
| a fire over the cap, without queueing       | SKIPPED, with the reason    | a FAILED run           |
| StopTrigger: the trigger's live runs        | are stopped, too            | go on                  |
| UpdateTrigger, DeleteTrigger while RUNNING  | refused: stop it first      | allowed                |
| UpdateJob under a RUNNING trigger or a run  | refused                     | allowed                |
| DeleteJob in a trigger or under a live run  | refused                     | allowed; fires: ERROR  |
| DeleteWorkflow under a live run of it       | refused: stop it first      | allowed; it goes on    |
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.errors import InvalidInput, NotAllowed
from waterclock.domain.flow import Flow
from waterclock.domain.job import JobFacts
from waterclock.domain.trigger import CHANGEABLE, FireRules, OverCap, Trigger, TriggerState, TriggerType


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    name: str
    fire: FireRules = field(default_factory=FireRules)
    stopping_stops_runs: bool = True
    change_running_triggers: bool = False
    change_jobs_in_use: bool = False
    delete_running_flows: bool = False

    def update_job(self, facts: JobFacts) -> None:
        if self.change_jobs_in_use:
            return
        if facts.running_triggers:
            raise NotAllowed(
                f"job {facts.job.name!r} is in RUNNING trigger(s) {_names(facts.running_triggers)}: stop them first"
            )
        _no_live_runs(facts)

    def delete_job(self, facts: JobFacts) -> None:
        if self.change_jobs_in_use:
            return
        if facts.triggers:
            raise NotAllowed(f"job {facts.job.name!r} is in trigger(s) {_names(facts.triggers)}: delete them first")
        _no_live_runs(facts)

    def change_trigger(self, trigger: Trigger) -> None:
        """Update and delete alike."""
        if not self.change_running_triggers and trigger.state not in CHANGEABLE:
            raise NotAllowed(f"trigger {trigger.name!r} is {trigger.state}: stop it first")

    def delete_flow(self, flow: Flow, live_runs: int) -> None:
        """An update needs no rule: a run keeps the graph and the properties that it began with."""
        if live_runs and not self.delete_running_flows:
            raise NotAllowed(
                f"workflow {flow.name!r} has {live_runs} live run(s): stop them or wait for their end first"
            )


def start_trigger(trigger: Trigger) -> None:
    if trigger.spec.type is TriggerType.EVENT:
        raise InvalidInput("Trigger Type EVENT cannot be started")
    if trigger.state is TriggerState.RUNNING:
        raise NotAllowed(f"trigger {trigger.name!r} is RUNNING already")


def stop_trigger(trigger: Trigger) -> None:
    if trigger.state is not TriggerState.RUNNING:
        raise NotAllowed(f"trigger {trigger.name!r} is {trigger.state}: only a RUNNING trigger can be stopped")


GUARDED: Final = Rules(name="guarded")
AWS: Final = Rules(
    name="aws",
    fire=FireRules(sequential=False, over_cap=OverCap.FAIL),
    stopping_stops_runs=False,
    change_running_triggers=True,
    change_jobs_in_use=True,
    delete_running_flows=True,
)
RULE_SETS: Final[Mapping[str, Rules]] = {rules.name: rules for rules in (GUARDED, AWS)}


def _no_live_runs(facts: JobFacts) -> None:
    if facts.live_runs:
        raise NotAllowed(
            f"job {facts.job.name!r} has {facts.live_runs} live run(s): stop them or wait for their end first"
        )


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
