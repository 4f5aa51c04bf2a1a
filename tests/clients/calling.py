"""What every client needs to find the server, and programs for it to run there."""

import os
from pathlib import Path

from tests.acceptance.server import Server, alive, until


def environment(server: Server, home: Path, **more: str) -> dict[str, str]:
    """As SPEC has it: the endpoint and the credentials file, and no other AWS setting of this machine."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AWS_ENDPOINT_URL": server.address,
        "AWS_SHARED_CREDENTIALS_FILE": str(server.data / "credentials"),
        "AWS_CONFIG_FILE": str(home / "no-config"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
        **more,
    }


def script(folder: Path, name: str, text: str) -> str:
    """Its location, for Command.ScriptLocation."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return f"file://{path}"


def sleeper(folder: Path, name: str) -> tuple[str, Path]:
    """A program that never ends by itself, and the file in which it leaves its pid."""
    pid = folder / f"{name}.pid"
    text = f"import os, time\nopen({str(pid)!r} + '~', 'w').write(str(os.getpid()))\n"
    text += f"os.rename({str(pid)!r} + '~', {str(pid)!r})\nwhile True: time.sleep(60)\n"
    return script(folder, name, text), pid


def pid_in(file: Path) -> int:
    until(file.exists, f"{file.name} was never written: the program did not start")
    return int(file.read_text())


def assert_dead(pid: int) -> None:
    assert not alive(pid), f"process {pid} lives on after its run was STOPPED"
