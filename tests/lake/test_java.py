"""Java jobs of a real server: built from git by real tools, run, failed, killed, and nothing left behind."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.server import Server, alive, running, until
from tests.lake.java_projects import HANGS, HELLO, MavenProject, gradle_project
from tests.lake.lake_client import PATIENCE_SECONDS, LakeClient
from tests.services.build_tools import BuildTools

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def server(build: BuildTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PATH", f"{build.bin}:{os.environ['PATH']}")
        with running(folder, auth="none", lake_maven_settings=build.maven_settings) as server:
            yield server


@pytest.fixture
def lake(server: Server) -> Iterator[LakeClient]:
    client = LakeClient(server)
    yield client
    client.close()


@pytest.fixture(scope="module")
def root(server: Server) -> Path:
    """The folder that jobs may always name."""
    return server.data / "lake"


@pytest.fixture(scope="module")
def project(root: Path) -> MavenProject:
    return MavenProject(root / "app")


def left(server: Server) -> tuple[list[str], list[str], list[str]]:
    """Of all runs, once none is live: processes, folders, and half-made builds."""
    here = str(server.data).encode()
    commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
    java = [str(pid) for pid, path in commands.items() if alive(pid) and here in _read(path) and b"java" in _read(path)]
    folders = [path.name for path in (server.data / "work").glob("*")]
    builds = [path.name for path in (server.data / "lake-cache/builds").glob(".*")]
    return java, folders, builds


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def nothing_is_left(server: Server) -> None:
    until(lambda: left(server) == ([], [], []), f"left: {left(server)}")


def test_a_maven_project_is_compiled_and_run_and_the_next_run_does_not_build_it(
    lake: LakeClient, server: Server, project: MavenProject, tmp_path: Path
) -> None:
    commit, go = project.branch("first"), tmp_path / "go"
    job = lake.create(
        "java_job",
        git_url=f"file://{project.path}",
        branch="first",
        build_tool="maven",
        args=["두루미", str(go)],
    )
    lake.start(job)
    assert lake.until(job, "Running")[-2:] == ["Compiling", "Running"]
    go.touch()
    ended = lake.ended(job)
    assert (ended["job_status"], ended["stats"]["build"], ended["stats"]["commit"]) == ("Finished", "built", commit)
    log = lake.log()
    assert "Tests run: 1, Failures: 0" in log
    assert log.index("== clone ==") < log.index("== build ==") < log.index("== run ==") < log.index("hello 두루미\n")

    ended = lake.run(job)
    assert (ended["job_status"], ended["stats"]["build"], ended["stats"]["commit"]) == ("Finished", "cached", commit)
    assert "Tests run" not in lake.log()

    commit = project.branch("first", hello=HELLO.replace("hello ", "goodbye "))
    ended = lake.run(job)
    assert (ended["job_status"], ended["stats"]["commit"]) == ("Error", commit)
    assert ended["message"].startswith("Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin")
    nothing_is_left(server)


def test_a_build_that_fails_says_why_first(lake: LakeClient, server: Server, project: MavenProject) -> None:
    project.branch("broken", hello=HELLO.replace("System.exit", "oops System.exit"))
    job = lake.create(
        "java_job",
        git_url=str(project.path),
        branch="broken",
        build_tool="maven",
        build_cmd="mvn -DskipTests package",
    )
    ended = lake.run(job)
    assert ended["job_status"] == "Error"
    assert ended["message"].startswith("Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin")
    assert "Hello.java:[11," in ended["message"]
    nothing_is_left(server)


def test_a_job_that_is_killed_in_mid_build_leaves_nothing(
    lake: LakeClient, server: Server, project: MavenProject, tmp_path: Path
) -> None:
    hanging = tmp_path / "hanging"
    project.branch("hangs", in_test=HANGS % hanging)
    job = lake.create("java_job", git_url=str(project.path), branch="hangs", build_tool="maven", build_cmd="package")
    lake.start(job)
    until(lambda: hanging.exists() and hanging.read_text(), "its unit test does not run", PATIENCE_SECONDS)
    assert lake.status(job)["current_sync_status"] == "Compiling"
    lake.kill(job)
    lake.until(job, "Killed")
    assert not alive(int(hanging.read_text()))
    nothing_is_left(server)


def test_a_job_that_is_killed_in_mid_run_leaves_nothing_and_what_was_built_is_kept(
    lake: LakeClient, server: Server, project: MavenProject, tmp_path: Path
) -> None:
    built = {"git_url": str(project.path), "branch": "main", "build_tool": "maven", "build_cmd": "-DskipTests"}
    job = lake.create("java_job", **built, main_class="org.example.Hello", args=["you", str(tmp_path / "never")])
    lake.start(job)
    lake.until(job, "Running")
    lake.kill(job)
    lake.until(job, "Killed")
    nothing_is_left(server)
    ended = lake.run(lake.create("java_job", **built, args=["you", str(tmp_path), "3"]))
    assert ended["stats"]["build"] == "cached"
    assert (ended["job_status"], ended["message"]) == ("Error", "exit code 3: hello you")


def test_a_gradle_project_is_built_offline_and_run(lake: LakeClient, server: Server, root: Path) -> None:
    repository = gradle_project(root / "gradle")
    job = lake.create(
        "java_job", git_url=str(repository.path), build_tool="gradle", build_cmd="jar --offline", args=["you"]
    )
    for build in ("built", "cached"):
        ended = lake.run(job)
        assert (ended["job_status"], ended["stats"]["build"]) == ("Finished", build), ended["message"]
        assert lake.log().endswith("hello you\n")
    nothing_is_left(server)


def test_the_seeds_own_example_ends_in_error_with_the_reason(lake: LakeClient) -> None:
    ended = lake.run(lake.create("java_job", git_url="abcd", build_tool="maven", build_cmd="execute cute cute cute"))
    assert ended["job_status"] == "Error"
    assert ended["message"].startswith("git_url 'abcd' is no address that may be cloned; use https://host/path")
