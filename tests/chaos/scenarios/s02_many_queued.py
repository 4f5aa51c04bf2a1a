"""2: 10,000 runs are queued before any worker is there; two take them, each once."""

import time
from typing import Final

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.shell_evidence import shell_program
from waterclock.chaos.checker import Answer
from waterclock.domain.run import RunState
from waterclock.stores.ops.starting import RunRequest, start_runs

RUNS: Final = 10_000
AT_ONCE: Final = 1_000  # in one transaction
PATIENCE_SECONDS: Final = 110


@scenario(2, "10,000 runs queued at once", stores=("postgres",))
def run(world: World) -> Result:
    """On PostgreSQL: what is tried is the claim by two workers, and the programs take most of the time."""
    script = world.folder / "queued.sh"
    with cluster(world, schedulers=1, workers=0) as c:
        script.write_text(shell_program(c.evidence))
        command = {"Name": "shell", "ScriptLocation": f"file://{script}"}
        queued = {"ExecutionProperty": {"MaxConcurrentRuns": RUNS}, "JobRunQueuingEnabled": True}
        c.glue().create_job(Name="queued", Role="r", Command=command, **queued)
        _queue(c)
        began = time.monotonic()
        for _ in range(2):
            c.add("worker").start(wait=False)
        c.quiet(PATIENCE_SECONDS)
        seconds = time.monotonic() - began
        _no_lease_was_lost(c)
        return c.result(c.history(worker_losses=False), runs_per_second=f"{RUNS / seconds:.0f}")


def _queue(c: Cluster) -> None:
    for first in range(0, RUNS, AT_ONCE):
        works = [f"queued-{number}" for number in range(first, first + AT_ONCE)]
        requests = [RunRequest(job_name="queued", arguments={"--work": work}) for work in works]
        c.write(start_runs, org_id=1, namespace="glue", requested_by="admin", requests=requests)
        c.calls |= dict.fromkeys(works, Answer.ACKNOWLEDGED)


def _no_lease_was_lost(c: Cluster) -> None:
    """Each was claimed once, and ended well."""
    found = c.ask("SELECT state, fence, COUNT(*) AS runs FROM attempts GROUP BY state, fence")
    assert found == [{"state": RunState.SUCCEEDED.value, "fence": 1, "runs": RUNS}], found
