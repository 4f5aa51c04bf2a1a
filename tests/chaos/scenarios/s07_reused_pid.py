"""7: everything is killed and started again; the numbers of its processes belong to bystanders by then."""

import subprocess
from pathlib import Path
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import WORKER_GONE, Cluster, cluster
from tests.chaos.process import kill_all
from tests.chaos.scenario import STORES, Result, Unsupported, World, scenario
from tests.chaos.tools.bodies import living
from tests.chaos.tools.holding import attempt_row, await_start, carriers, parent_of, pid_of
from waterclock.domain.run import ENDED

LAST_PID: Final = Path("/proc/sys/kernel/ns_last_pid")
TRIES: Final = 50


@scenario(7, "restart everything; a stored pid now belongs to a bystander", stores=STORES)
def run(world: World) -> Result:
    with cluster(world, schedulers=2, workers=1) as c:
        c.job("long", living(100))
        runs = [c.call(f"long-{number}", job="long") for number in range(2)]
        for each in runs:
            await_start(c, each)
        programs = [pid_of(c, each) for each in runs]
        numbers = [*programs, *map(parent_of, programs), *c.workers[0].supervisors(), c.workers[0].pid]
        _kill_everything(c, runs)
        bystanders = [found for number in numbers if (found := _with_number(number))]
        try:
            assert {each.pid for each in bystanders} >= set(programs), "the programs' numbers are taken"
            for process in c.all:
                process.start()
            c.glue().batch_stop_job_run(
                JobName="long", JobRunIds=runs[:1]
            )  # whoever is to stop it looks for its process
            until(lambda: all(attempt_row(c, each, 0)["state"] in ENDED for each in runs), "a lost run is not decided")
            c.quiet()
            dead = [each.pid for each in bystanders if each.poll() is not None]
            assert not dead, f"bystanders with the numbers {dead} were killed"
            states = ", ".join(attempt_row(c, each, 0)["state"] for each in runs)
            return c.result(c.history(failed=c.failed(*WORKER_GONE)), bystanders=len(bystanders), runs=states)
        finally:
            for bystander in bystanders:
                bystander.kill()
                bystander.wait()


def _kill_everything(c: Cluster, runs: list[str]) -> None:
    doomed = [pid for each in runs for pid in carriers(each)]
    for process in c.all:
        process.clean_up()
    kill_all(doomed)
    until(lambda: not any(carriers(each) for each in runs), "a killed program lives")


def _with_number(number: int) -> "subprocess.Popen[bytes] | None":
    """A process that was given exactly this number; None where it cannot be had: a group or a session still has it."""
    for _ in range(TRIES):
        try:
            LAST_PID.write_text(str(number - 1))
        except OSError as refused:
            raise Unsupported(f"numbers of processes cannot be chosen here: {refused}") from None
        process = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL)
        if process.pid == number:
            return process
        process.kill()
        process.wait()
    return None
