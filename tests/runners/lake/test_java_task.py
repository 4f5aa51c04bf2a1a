"""Java jobs from clone to run: with which Java, what is reported, and how they end.

Java and Maven are stand-ins here; the real ones run in tests/lake/test_java.py.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.runners.lake.java_projects import BUILDS, jar_of, put
from tests.runners.lake.repositories import Repository
from waterclock.domain.progress import Said
from waterclock.runners.lake import java_task, order, program, report
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.task import TaskFailed
from waterclock.runners.lake.variables import java_variables

MAIN = jar_of("org.Main", main_class="org.Main")


class Became(Exception):
    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.argv, self.cwd, self.env = argv, cwd, env


class Shop:
    """Runs the task up to the moment at which it would become Java."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin, self.told = folder, folder / "bin", folder / "told"
        self.repository = Repository(folder / "root/app")
        self._count = 0
        put(self.bin, "java", 'printf "%s\\n" "$@"; exit 7')
        put(self.bin, "mvn", BUILDS.format(told=self.told))

    def order(self, **task: Any) -> Order:
        self._count += 1
        return Order(
            kind="java_job",
            job_id=1,
            run_id="jr_1",
            attempt_id=self._count,
            task={"class_name": "java_job", "git_url": str(self.repository.path), **task},
            cache=str(self.folder / "cache"),
            roots=(str(self.folder / "root"),),
            java={"PATH": f"{self.bin}:{os.environ['PATH']}"},
        )

    def work(self) -> Path:
        folder = self.folder / f"work{self._count}"
        folder.mkdir()
        return folder

    def became(self, **task: Any) -> Became:
        order, folder = self.order(**task), self.work()
        with pytest.raises(Became) as became:
            java_task.run(order, folder, Reporter(folder))
        return became.value

    def words(self, **task: Any) -> list[str]:
        """Those after our own, with paths as they are in the repository."""
        became = self.became(**task)
        assert became.argv[0] == str(self.bin / "java")
        own = ("-XX:-UsePerfData", f"-Djava.io.tmpdir={became.cwd.parent}/tmp")
        assert became.argv[1:3] == own
        return [word.replace(f"{became.cwd}/", "").replace(str(became.cwd), ".") for word in became.argv[3:]]

    def refused(self, **task: Any) -> str:
        order, folder = self.order(**task), self.work()
        with pytest.raises(TaskFailed) as refused:
            java_task.run(order, folder, Reporter(folder))
        return str(refused.value)

    def start(self, **task: Any) -> "subprocess.Popen[str]":
        """The whole program, as the supervisor starts it."""
        told = self.order(**task)
        path = order.write(self.work(), told)
        return subprocess.Popen(
            [sys.executable, program.__file__, path],
            cwd=path.parent,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def said(self) -> Said:
        return report.read(self.folder / f"work{self._count}")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    def become(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> NoReturn:
        raise Became(argv, cwd, env)

    monkeypatch.setattr(java_task, "become", become)
    for name in ("PATH", "JAVA_HOME"):  # the task sets them for its own process, which is ours here
        monkeypatch.setenv(name, os.environ.get(name, ""))
    return Shop(tmp_path)


def test_what_was_built_is_run_with_the_arguments(shop: Shop) -> None:
    shop.repository.add({"made/target/app.jar": MAIN, "made/target/lib/dep.jar": jar_of("dep.Dep")})
    expected = ["-jar", "target/app.jar", "two words", "3"]
    assert shop.words(build_tool="maven", args=["two words", 3]) == expected
    assert shop.words(build_tool="maven", args=["two words", 3]) == expected  # from the cache
    words = shop.words(build_tool="maven", main_class="org.Main", args=["x"])
    assert words == ["-cp", "target/app.jar:target/lib/dep.jar", "org.Main", "x"]
    refused = shop.refused(build_tool="maven", main_class="org.Other")
    assert refused == "the class org.Other is not in target/app.jar, target/lib/dep.jar"


def test_a_jar_of_the_repository_needs_no_build(shop: Shop) -> None:
    shop.repository.add({"dist/app.jar": MAIN})
    assert shop.words(build_tool="none", build_cmd="ignored") == ["-jar", "dist/app.jar"]


def test_the_seeds_example_ends_with_a_clear_reason(shop: Shop) -> None:
    refused = shop.refused(git_url="abcd", build_tool="maven", build_cmd="execute cute cute cute")
    assert refused.startswith("git_url 'abcd' is no address that may be cloned; use https://host/path")


# With which Java


def test_java_home_of_the_worker_is_respected(shop: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shop.repository.add({"a.jar": MAIN})
    java = put(tmp_path / "jdk/bin", "java", "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert shop.became().argv[0] == str(java)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert shop.refused() == "JAVA_HOME of this worker is /nowhere, which has no bin/java"


def test_without_java_it_says_so(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert shop.refused() == "java is not installed on this worker"


def test_a_worker_tells_its_programs_where_its_tools_are() -> None:
    told = java_variables({"PATH": "/opt/maven/bin", "JAVA_HOME": "/opt/jdk", "OTHER": "x"})
    assert told == {"PATH": f"/opt/maven/bin:{java_variables({})['PATH']}", "JAVA_HOME": "/opt/jdk"}


# The whole program


def test_the_program_becomes_java_and_its_end_is_javas(shop: Shop) -> None:
    shop.repository.add({"made/target/app.jar": MAIN})
    commit = shop.repository.git("rev-parse", "HEAD")
    for build in ("built", "cached"):
        process = shop.start(build_tool="maven", args=["x"])
        log, _ = process.communicate(timeout=60)
        assert process.returncode == 7, log
        source = f"{shop.folder}/work{shop._count}/source"
        lines = log.splitlines()
        assert lines[:3] == ["== clone ==", f"{shop.repository.path} at {commit}", "== build =="]
        own = ["-XX:-UsePerfData", f"-Djava.io.tmpdir={source.removesuffix('source')}tmp"]
        assert lines[-6:] == ["== run ==", *own, "-jar", f"{source}/target/app.jar", "x"]
        said = shop.said()
        assert (said.phase, dict(said.progress), said.reason) == ("executing", {"commit": commit, "build": build}, None)


def test_a_stop_in_mid_build_leaves_nothing_in_the_cache(shop: Shop) -> None:
    shop.repository.add({"made/target/app.jar": MAIN})
    put(shop.bin, "mvn", f"cp -R made/. .; echo $$ >{shop.told}; echo building; exec sleep 600")
    process = shop.start(build_tool="maven")
    assert process.stdout
    while process.stdout.readline() != "building\n":
        pass
    assert shop.said().phase == "building"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert not Path(f"/proc/{shop.told.read_text().strip()}").exists()
    left = {path.name for path in (shop.folder / "cache/builds").iterdir()}
    assert {name for name in left if not name.endswith(".lock")} == set()


def test_a_failure_is_the_reason_and_the_last_line_of_the_log(shop: Shop) -> None:
    shop.repository.add({"a": b""})
    put(shop.bin, "mvn", "echo '[ERROR] no pom'; exit 1")
    process = shop.start(build_tool="maven")
    log, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert shop.said().reason == "no pom (the build ended with 1)"
    assert log.endswith("no pom (the build ended with 1)\n")
