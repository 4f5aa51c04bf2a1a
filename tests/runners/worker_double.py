"""A worker that can be killed: starts one program through the real client, says that it began, and waits.

python -m tests.runners.worker_double STATE_DIR COMMAND_JSON PROGRAM_JSON
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from waterclock.runners.base import Begun, Program
from waterclock.runners.client import SupervisorClient


async def main(state_dir: Path, command: list[str], program: Program) -> None:
    client = SupervisorClient(state_dir, lambda: void(subprocess.run(command, check=True, env=dict(os.environ))))
    await client.open()
    await client.start([program])
    async for batch in client.events():
        if any(isinstance(event, Begun) for event in batch):
            print("begun", flush=True)


def void(_: object) -> None:
    return None


if __name__ == "__main__":
    values = json.loads(sys.argv[3])
    values["argv"] = tuple(values["argv"])
    asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2]), Program(**values)))
