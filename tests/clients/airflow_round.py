"""One round with Airflow's GlueJobOperator, run by Airflow's own Python: `airflow_round.py S3_SCRIPT FOLDER`.

FOLDER holds what the jobs run; the connection comes from AIRFLOW_CONN_AWS_DEFAULT. Prints what it saw as JSON.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from airflow.exceptions import AirflowException
from airflow.providers.amazon.aws.operators.glue import GlueJobOperator
from structlog.testing import capture_logs

DEADLINE_SECONDS = 60.0


class TaskInstance:
    """What the operator asks of the task that it runs in."""

    dag_id, task_id, run_id, try_number, map_index = "dag", "task", "run", 1, -1
    stats_tags: dict[str, str] = {}  # noqa: RUF012 -- nobody writes it

    def __init__(self) -> None:
        self.pushed: dict[str, Any] = {}

    def xcom_push(self, key: str, value: Any) -> None:
        self.pushed[key] = value


def operator(job: str, location: str, **more: Any) -> GlueJobOperator:
    command = {"Name": "pythonshell", "ScriptLocation": location}
    given = {"create_job_kwargs": {"Command": command, **more.pop("create", {})}, "iam_role_name": "glue", **more}
    return GlueJobOperator(task_id=job, job_name=job, job_poll_interval=0.2, **given)


def context(**more: Any) -> dict[str, Any]:
    return {"ti": TaskInstance(), **more}


def verbose(location: str) -> dict[str, Any]:
    doing = operator("verbose", location, verbose=True, script_args={"--day": "monday"})
    with capture_logs() as logged:
        run_id = doing.execute(context())
    job = doing.hook.conn.get_job(JobName="verbose")["Job"]
    return {
        "run_id": run_id,
        "role": job["Role"],
        "max_capacity": job["MaxCapacity"],
        "said": [each["event"] for each in logged],
    }


def failing(location: str) -> dict[str, Any]:
    try:
        operator("failing", location).execute(context())
    except AirflowException as error:
        return {"type": type(error).__name__, "text": str(error)}
    return {}


def updating(first: str, second: str) -> dict[str, Any]:
    operator("updated", first, create={"Tags": {"team": "data", "stage": "test"}}).execute(context())
    doing = operator("updated", second, create={"Tags": {"team": "lake"}}, update_config=True, job_desc="newer")
    doing.execute(context())
    job = doing.hook.conn.get_job(JobName="updated")["Job"]
    arn = "arn:aws:glue:us-east-1:123456789012:job/updated"
    tags = doing.hook.conn.get_tags(ResourceArn=arn)["Tags"]
    return {"description": job["Description"], "location": job["Command"]["ScriptLocation"], "tags": tags}


def killing(location: str, pid_file: Path) -> dict[str, Any]:
    """A worker that dies leaves the run id in the task's state: the retry waits for that run, and on_kill stops it."""
    first = operator("killed", location, wait_for_completion=False)
    run_id = first.execute(context())
    doing = operator("killed", location, stop_job_run_on_kill=True)
    saw: dict[str, Any] = {}

    def execute() -> None:
        try:
            doing.execute(context(task_state_store={doing.external_id_key: run_id}))
        except AirflowException as error:
            saw["type"] = type(error).__name__

    waiting = threading.Thread(target=execute)
    waiting.start()
    until(lambda: pid_file.exists() and doing._job_run_id == run_id)
    doing.on_kill()
    waiting.join(DEADLINE_SECONDS)
    runs = doing.hook.conn.get_job_runs(JobName="killed")["JobRuns"]
    return {"run_id": run_id, "runs": [(run["Id"], run["JobRunState"]) for run in runs], **saw}


def until(condition: Any) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def main(in_s3: str, folder: Path) -> dict[str, Any]:
    hello, fails, sleeps = (f"file://{folder}/{name}.py" for name in ("hello", "fails", "sleeper"))
    return {
        "verbose": verbose(in_s3),
        "failing": failing(fails),
        "updating": updating(in_s3, hello),
        "killing": killing(sleeps, folder / "sleeper.pid"),
    }


if __name__ == "__main__":
    print("\n" + json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
