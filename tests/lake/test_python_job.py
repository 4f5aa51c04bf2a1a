"""A Python job with a real requirement, installed by the real pip; and one that is killed while it installs."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.acceptance.server import Server, running, until
from tests.lake.lake_client import LakeClient

pytestmark = pytest.mark.heavy

KIND = "python_job"
PACKAGE = "six==1.17.0"
CODE = """
import six, subprocess, sys
print(six.__version__, sys.prefix)
subprocess.run(["pip", "--version"], check=True)
"""


@contextmanager
def silent_registry() -> Iterator[socket.socket]:
    """Whoever connects there waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


def environments(server: Server) -> list[str]:
    folder = server.data / "lake-cache" / "environments"
    return [each.name for each in folder.iterdir() if not each.name.endswith(".lock")] if folder.exists() else []


def programs(server: Server) -> list[int]:
    """Their home is in the server's data directory."""
    home = f"HOME={server.data}/work/".encode()
    found = [path for path in Path("/proc").glob("[0-9]*/environ") if home in _read(path)]
    return [int(path.parent.name) for path in found]


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


def test_a_requirement_is_installed_once_and_found_again(tmp_path: Path) -> None:
    with running(tmp_path, auth="none") as server, closing(LakeClient(server)) as lake:
        job_id = lake.create(KIND, code=CODE, requirements=[PACKAGE])
        assert lake.run(job_id)["job_status"] == "Finished", lake.log()
        assert lake.status(job_id)["progress"] == {"build": "built"}
        (name,) = environments(server)
        place = server.data / "lake-cache" / "environments" / name
        build, _, run = lake.log().partition("== run ==\n")
        assert "Successfully installed six-1.17.0" in build
        said, pip = run.splitlines()
        assert said == f"1.17.0 {place}"
        assert str(place) in pip

        assert lake.run(job_id)["job_status"] == "Finished", lake.log()
        assert lake.status(job_id)["progress"] == {"build": "cached"}
        assert lake.log().startswith("== build ==\nthese requirements were installed before\n== run ==\n")

        missing = lake.run(lake.create(KIND, code=CODE, requirements="six==0.0.0.1"))
        assert missing["message"].startswith("cannot install the requirements: Could not find a version")
        assert environments(server) == [name]


@pytest.mark.parametrize("grace_seconds", [10, 0.01], ids=["kill", "kill -9"])
def test_a_kill_in_mid_install_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grace_seconds: float
) -> None:
    with silent_registry() as registry:
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{registry.getsockname()[1]}/")
        running_so = running(tmp_path, auth="none", stop_grace_seconds=grace_seconds)
        with running_so as server, closing(LakeClient(server)) as lake:
            job_id = lake.create(KIND, code=CODE, requirements=["no-such-package"])
            lake.start(job_id)
            asking, _ = registry.accept()
            with asking:
                assert lake.status(job_id)["current_sync_status"] == "Compiling"
                assert programs(server)  # pip
                lake.kill(job_id)
                lake.until(job_id, "Killed")
            assert programs(server) == []
            until(lambda: not list((server.data / "work").iterdir()), "its folder is left")
            if grace_seconds < 1:  # it had no time to clean up: the next one does
                lake.run(lake.create(KIND, code="print(1)"))
            assert environments(server) == []
