"""12: the API does what it is asked, and many of its answers never arrive: whoever asks again gets the same run."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import STORES, Result, World, scenario
from tests.chaos.tools.faulty_proxy import Chances, faulty_proxy
from tests.chaos.tools.seed import chosen_seed
from waterclock.chaos.checker import Answer

JOB: Final = "called"
RUNS, TRIGGERS, FLOWS, COMMANDS = 60, 12, 8, 6
CHANCES: Final = Chances(before_commit=0.1, after_commit=0.4)
TRIES: Final = 8  # the SDK's own


@scenario(12, "the API's answers are dropped", stores=STORES, short=True)
def run(world: World) -> Result:
    seed = chosen_seed()
    with cluster(world, schedulers=1, workers=2) as c, faulty_proxy(c.address, seed=seed) as proxy:
        _define(c)
        glue, calls = c.glue(retries=TRIES, address=proxy.url), list[Callable[[], object]]()
        calls += [partial(c.call, f"run-{number}", JOB, glue=glue) for number in range(RUNS)]
        calls += [partial(_asked, c, work, glue.start_trigger, Name=work) for work in _works("trigger", TRIGGERS)]
        calls += [partial(_asked, c, work, glue.start_workflow_run, Name=work) for work in _works("flow", FLOWS)]
        calls += [partial(_commanded, c, work, proxy.url) for work in _works("command", COMMANDS)]
        proxy.chances = CHANCES
        with ThreadPoolExecutor(8) as clients:
            for done in [clients.submit(call) for call in calls]:
                done.result()
        c.quiet()
        lost, answers = proxy.done["cut after a commit"], Counter(c.calls.values())
        assert lost > len(calls) / 5, f"only {lost} answers were lost"
        assert answers[Answer.ACKNOWLEDGED] > len(calls) / 2, answers
        return c.result(seed=seed, calls=len(calls), answers_lost=lost, unknown=answers[Answer.UNKNOWN])


def _works(kind: str, count: int) -> list[str]:
    return [f"{kind}-{number}" for number in range(count)]


def _define(c: Cluster) -> None:
    """A job for all, and what starts it when it is told to."""
    c.job(JOB)
    glue = c.glue()
    for work in _works("trigger", TRIGGERS):
        glue.create_trigger(Name=work, Type="ON_DEMAND", Actions=[_action(work)])
    for work in _works("flow", FLOWS):
        glue.create_workflow(Name=work)
        glue.create_trigger(Name=f"of-{work}", WorkflowName=work, Type="ON_DEMAND", Actions=[_action(work)])


def _action(work: str) -> dict[str, Any]:
    return {"JobName": JOB, "Arguments": {"--work": work}}


def _asked(c: Cluster, work: str, call: Callable[..., object], **values: object) -> None:
    try:
        call(**values)
    except (ClientError, BotoCoreError):
        c.calls[work] = Answer.UNKNOWN
    else:
        c.calls[work] = Answer.ACKNOWLEDGED


def _commanded(c: Cluster, work: str, address: str) -> None:
    """Our own command line does not ask again by itself: it says that it does not know."""
    done = c.cli("run", "start", JOB, "--namespace", "glue", "--arg", f"--work={work}", "--server", address)
    assert "Traceback" not in done.stderr, done.stderr
    c.calls[work] = Answer.UNKNOWN if done.returncode else Answer.ACKNOWLEDGED
