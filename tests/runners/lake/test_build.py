"""Builds of a commit: with which tool and words, once, and what is kept of them.

sbt cannot be had where these tests run: here, as in all tests, a stand-in on PATH is called in its place. Maven and
Gradle really build in tests/lake/test_java.py.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.runners.lake.java_projects import BUILDS, jar_of, put
from tests.runners.lake.repositories import Repository
from waterclock.runners.lake import tool
from waterclock.runners.lake.build import Build, Built
from waterclock.runners.lake.build_tools import TOOLS, Command, reason_of, tool_of
from waterclock.runners.lake.cache import Cache
from waterclock.runners.lake.git import Checkout, clone
from waterclock.runners.lake.task import TaskFailed

JAR = jar_of("org.Main", main_class="org.Main")


class Yard:
    """A repository, its checkouts, and the tools that are on PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin, self.cache, self.told = folder / "bin", folder / "cache", folder / "told"
        self.repository = Repository(folder / "root/app")
        self.repository.add({"made/target/app.jar": JAR, "src/Main.java": b"class Main {}"})
        self._folder, self._count = folder, 0
        monkeypatch.setenv("PATH", f"{self.bin}:{os.environ['PATH']}")

    def install(self, name: str, body: str = BUILDS) -> None:
        put(self.bin, name, body.format(told=self.told))

    def checkout(self) -> Checkout:
        self._count += 1
        folder = self._folder / f"work{self._count}"
        (folder / "tmp").mkdir(parents=True)
        return clone(
            str(self.repository.path),
            branch=None,
            into=folder / "source",
            cache=self.cache,
            roots=[str(self._folder / "root")],
            allows_private=False,
            credentials=None,
        )

    def build(self, tool: str = "maven", command: str = "", checkout: Checkout | None = None, **more: Any) -> Built:
        checkout = checkout or self.checkout()
        temporary = checkout.path.parent / "tmp"
        return Build(tool=tool, command=command, cache=Cache(self.cache), temporary=temporary, **more).done(checkout)

    def words(self) -> list[str]:
        return self.told.read_text().splitlines() if self.told.exists() else []

    def builds(self) -> list[str]:
        return [path.name for path in (self.cache / "builds").iterdir() if not path.name.endswith(".lock")]


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    return Yard(tmp_path, monkeypatch)


# Words


@pytest.mark.parametrize(
    ("tool", "text", "program", "words"),
    [
        ("maven", "", "", ("package",)),
        ("maven", "mvn", "mvn", ("package",)),
        ("maven", "-DskipTests -q", "", ("-DskipTests", "-q", "package")),
        ("maven", "mvn clean package", "mvn", ("clean", "package")),
        ("maven", "./mvnw verify", "./mvnw", ("verify",)),
        ("maven", "execute cute cute cute", "", ("execute", "cute", "cute", "cute")),
        ("maven", "package '-Dname=two words'", "", ("package", "-Dname=two words")),
        ("gradle", "", "", ("build",)),
        ("gradle", "gradle jar --offline", "gradle", ("jar", "--offline")),
        ("gradle", "gradlew shadowJar", "gradlew", ("shadowJar",)),
        ("sbt", "", "", ("package",)),
        ("sbt", "sbt 'project core' assembly", "sbt", ("project core", "assembly")),
        ("maven", "gradle build", "", ("gradle", "build")),
    ],
)
def test_a_command_is_words_for_the_tool(tool: str, text: str, program: str, words: tuple[str, ...]) -> None:
    found = Command.of(tool_of(tool), text)
    assert (found.program, found.words) == (program, words)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mvn package && rm -rf /", "not to a shell: '&&'"),
        ("package > log", "not to a shell: '>'"),
        ("package 'x", "cannot be split into words: No closing quotation"),
        ("package -Dx='a\nb'", "control character"),
        ("package \0", "control character"),
    ],
)
def test_a_command_for_a_shell_is_refused(text: str, reason: str) -> None:
    with pytest.raises(TaskFailed, match=reason):
        Command.of(tool_of("maven"), text)


def test_a_tool_that_is_unknown_or_missing_is_said(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TaskFailed, match="build_tool 'make' is not known: it is maven, gradle, sbt or none"):
        yard.build("make")
    checkout = yard.checkout()
    monkeypatch.setenv("PATH", str(yard.bin))
    with pytest.raises(TaskFailed, match="build_tool 'sbt': sbt is not installed on this worker"):
        yard.build("sbt", checkout=checkout)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("maven", ["-B", "-ntp", "-Dmaven.repo.local={home}/repository", "-s", "{settings}", "x"]),
        ("gradle", ["--no-daemon", "--console=plain", "x"]),
        (
            "sbt",
            [
                *("-batch", "-no-colors", "-Dsbt.global.base={home}/base", "-Dsbt.boot.directory={home}/boot"),
                *("-Dsbt.ivy.home={home}/ivy", "-Dsbt.coursier.home={home}/coursier", "x"),
            ],
        ),
    ],
)
def test_each_tool_keeps_its_own_things_in_the_cache(yard: Yard, tmp_path: Path, name: str, own: list[str]) -> None:
    yard.install(TOOLS[name].program, BUILDS + "\nenv >>{told}")
    settings = tmp_path / "settings.xml"
    settings.touch()
    yard.build(name, "x", maven_settings=str(settings))
    (home,) = (path for path in (yard.cache / "tools").iterdir() if path.is_dir())
    assert yard.words()[: len(own)] == [word.format(home=home, settings=settings) for word in own]
    assert {f"GRADLE_USER_HOME={home}", f"MAVEN_USER_HOME={home}"} <= set(yard.words())


def test_settings_for_maven_that_are_not_there_are_said(yard: Yard) -> None:
    with pytest.raises(TaskFailed, match=r"lake.maven_settings names /nowhere, which is no file here"):
        yard.build(maven_settings="/nowhere")


def test_the_wrapper_of_a_repository_is_used_unless_the_tool_itself_is_named(
    yard: Yard, capfd: pytest.CaptureFixture[str]
) -> None:
    yard.install("mvn")
    with pytest.raises(TaskFailed, match="there is no mvnw in the repository"):
        yard.build(command="./mvnw package")
    yard.repository.add({"mvnw": f"#!/bin/sh\n{BUILDS.format(told=yard.told)}\n".encode()})  # not executable, as often
    for command, expected in (("package", "mvnw"), ("mvn package", "mvn")):
        yard.build(command=command)
        assert f"built by {expected}\n" in capfd.readouterr().out


# Once


def test_a_commit_is_built_once_for_a_tool_and_its_words(yard: Yard) -> None:
    yard.install("mvn")
    assert [yard.build().cached for _ in range(2)] == [False, True]
    assert yard.words().count("package") == 1
    assert not yard.build(command="verify").cached
    yard.repository.add({"more": b""})
    assert not yard.build().cached


def test_a_run_finds_the_same_whether_it_was_built_or_kept(yard: Yard) -> None:
    yard.repository.add({"made/target/report.txt": b"", "made/src/Main.java": b"changed", "lib/dep.jar": jar_of()})
    yard.install("mvn")
    found = []
    for _ in range(2):
        built = yard.build()
        (root,) = {Path(*jar.parts[:-2]) for jar in built.artefacts.jars}
        files = {str(path.relative_to(root)) for path in root.rglob("*") if ".git" not in path.parts and path.is_file()}
        found.append((built.cached, files, (root / "src/Main.java").read_text()))
    assert [cached for cached, *_ in found] == [False, True]
    assert found[0][1:] == found[1][1:]
    assert {"target/app.jar", "lib/dep.jar"} <= found[0][1]
    assert "target/report.txt" not in found[0][1]
    assert found[0][2] == "class Main {}"


def test_classes_are_kept_where_no_jar_was_made(yard: Yard) -> None:
    yard.repository.git("rm", "--quiet", "-r", "made")
    yard.repository.add({"made/build/classes/java/main/org/Main.class": b"x"})
    yard.install("gradle")
    for _ in range(2):
        (folder,) = yard.build("gradle").artefacts.classes
        assert folder.parts[-4:] == ("build", "classes", "java", "main")
        assert (folder / "org/Main.class").read_bytes() == b"x"


def test_a_build_that_makes_nothing_is_said_and_not_kept(yard: Yard) -> None:
    yard.install("mvn", "true")
    for _ in range(2):
        with pytest.raises(TaskFailed, match="the build made neither a jar nor classes: maven package"):
            yard.build()
    assert yard.builds() == []


def test_a_build_that_is_stopped_leaves_nothing_and_the_next_one_builds(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.install("mvn")
    checkout = yard.checkout()
    with monkeypatch.context() as patched:
        patched.setattr("waterclock.runners.lake.artefacts.keep", _stopped_in_the_middle)
        with pytest.raises(SystemExit):
            yard.build(checkout=checkout)
    assert yard.builds() == []
    assert not yard.build().cached


def _stopped_in_the_middle(root: Path, before: object, into: Path) -> bool:
    (into / "half.jar").touch()
    raise SystemExit(143)


def test_a_tool_that_leaves_something_running_is_not_waited_for(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = put(tmp_path, "tool", "sleep 60 & echo $!; echo the end >&2; exit 3")
    ended = tool.run([str(program)], cwd=tmp_path, env={"PATH": os.environ["PATH"]})
    os.kill(int(ended.lines[0]), 9)
    assert (ended.exit_code, ended.lines[1:]) == (3, ("the end",))
    assert capfd.readouterr().out.endswith("the end\n")


# Why it failed


def test_the_reason_of_a_failed_build_comes_first(yard: Yard) -> None:
    yard.install("mvn", "echo '[ERROR] Failed to execute goal x:y: no such thing -> [Help 1]'; exit 1")
    with pytest.raises(TaskFailed, match=r"^Failed to execute goal x:y: no such thing \(the build ended with 1\)$"):
        yard.build()
    assert yard.builds() == []


MAVEN = """\
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org:compile (default) on project app: Compilation failure
[ERROR] /w/src/Main.java:[3,9] ';' expected
[ERROR]
[ERROR] -> [Help 1]
[ERROR] For more information about the errors and possible solutions, please read the following articles:
"""
UNKNOWN = '[ERROR] Unknown lifecycle phase "execute". You must specify a valid phase -> [Help 1]\n[ERROR] \n'
GRADLE = """\
Main.java:3: error: ';' expected
FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
> Compilation failed; see the compiler error output for details.

* Try:
Run with --stacktrace option to get the stack trace.
"""
SBT = "[info] compiling\n\x1b[31m[error] \x1b[0mMain.scala:3: not found: value x\n[error] (Compile) failed\n"


@pytest.mark.parametrize(
    ("name", "output", "reason"),
    [
        (
            "maven",
            MAVEN,
            "Failed to execute goal org:compile (default) on project app: Compilation failure: "
            "/w/src/Main.java:[3,9] ';' expected",
        ),
        ("maven", UNKNOWN, 'Unknown lifecycle phase "execute". You must specify a valid phase'),
        ("maven", "mvn: line 3: java: not found\n", "mvn: line 3: java: not found"),
        (
            "gradle",
            GRADLE,
            "Execution failed for task ':compileJava'. > Compilation failed; see the compiler error output for "
            "details. Main.java:3: error: ';' expected",
        ),
        ("gradle", "no such option\n", "no such option"),
        ("sbt", SBT, "Main.scala:3: not found: value x"),
        ("sbt", "", "it said nothing"),
    ],
)
def test_the_reason_is_what_the_tool_gives(name: str, output: str, reason: str) -> None:
    assert reason_of(tool_of(name), [line for line in output.splitlines() if line.strip()]) == reason
