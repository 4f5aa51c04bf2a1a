"""From StartJobRun's answer to the first line of a Python script, one at a time on an idle server."""

import time
from pathlib import Path

import boto3

from bench.harness import waterclock

SCRIPT = """import time; now = time.time()
import os
with open(os.path.join({folder!r}, os.environ["WATERCLOCK_RUN_ID"]), "w") as file:
    file.write(repr(now))
"""


def latencies(folder: Path, url: str, count: int) -> list[float]:
    """Of a server with an engine and an API process of its own."""
    seen = folder / "seen"
    seen.mkdir()
    script = folder / "first_line.py"
    script.write_text(SCRIPT.format(folder=str(seen)))
    with waterclock("engine", folder, url), waterclock("api", folder, url) as address:
        return _measured(address, folder, script, seen, count)


def _measured(address: str, folder: Path, script: Path, seen: Path, count: int) -> list[float]:
    session = boto3.Session(**_keys(folder / "credentials"), region_name="us-east-1")
    glue = session.client("glue", endpoint_url=address)
    command = {"Name": "pythonshell", "ScriptLocation": f"file://{script}"}
    glue.create_job(Name="first", Role="r", Command=command, ExecutionProperty={"MaxConcurrentRuns": 50})
    spans = []
    for number in range(count + 10):
        run_id = glue.start_job_run(JobName="first")["JobRunId"]
        answered = time.time()
        mark = seen / run_id
        while not mark.exists() or not mark.read_text():
            time.sleep(0.0005)
        if number >= 10:  # the first ones warm caches
            spans.append(float(mark.read_text()) - answered)
        time.sleep(0.02)
    return spans


def _keys(path: Path) -> dict[str, str]:
    lines = dict(line.split(" = ") for line in path.read_text().splitlines() if " = " in line)
    return {name: lines[name] for name in ("aws_access_key_id", "aws_secret_access_key")}
