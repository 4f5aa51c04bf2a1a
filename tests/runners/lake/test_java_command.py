"""What Java is told to run of what lies in a repository, and what is said where that is not clear."""

from pathlib import Path
from typing import Any

import pytest

from tests.runners.lake.java_projects import jar_of
from waterclock.runners.lake import artefacts, jars
from waterclock.runners.lake.java_command import Job, words_of
from waterclock.runners.lake.task import TaskFailed

MAIN = jar_of("org.Main", main_class="org.Main")


def words(root: Path, files: dict[str, bytes], **task: Any) -> list[str]:
    """With paths as they are in the repository, of which nothing is built."""
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    told = words_of(Job.of(task), artefacts.committed(root), root)
    return [word.replace(f"{root}/", "").replace(str(root), ".") for word in told]


def test_the_jar_that_has_a_main_class_is_run_with_the_arguments(tmp_path: Path) -> None:
    beside = ("original-app.jar", "app-tests.jar", "app-sources.jar", "gradle/wrapper/gradle-wrapper.jar", ".mvn/x.jar")
    files = {"app.jar": MAIN, "lib/dep.jar": jar_of("dep.Dep"), **dict.fromkeys(beside, MAIN)}
    assert words(tmp_path, files, args=["two words", 3]) == ["-jar", "app.jar", "two words", "3"]


def test_a_main_class_is_run_with_all_jars_or_those_that_are_named(tmp_path: Path) -> None:
    files = {"app.jar": jar_of("org.Main"), "lib/dep.jar": jar_of("dep.Dep")}
    found = words(tmp_path, files, main_class="org.Main", args=["x"])
    assert found == ["-cp", ".:app.jar:lib/dep.jar", "org.Main", "x"]
    assert words(tmp_path, {}, main_class="org.Main", jar="*.jar") == ["-cp", "app.jar", "org.Main"]
    assert words(tmp_path, {}, main_class="dep.Dep", jar="**/*.jar") == ["-cp", "app.jar:lib/dep.jar", "dep.Dep"]


def test_a_main_class_may_be_in_what_a_jar_names(tmp_path: Path) -> None:
    files = {"app.jar": jar_of(manifest="Class-Path: lib/other.jar\r\n")}
    assert words(tmp_path, files, main_class="org.Other") == ["-cp", ".:app.jar", "org.Other"]


def test_folders_of_classes_are_run(tmp_path: Path) -> None:
    files = {"org/Main.class": b"", "bin/org/Second.class": b""}
    assert words(tmp_path, files, main_class="org.Main") == ["-cp", ".:bin", "org.Main"]
    assert words(tmp_path, files, main_class="org.Second") == ["-cp", ".:bin", "org.Second"]


@pytest.mark.parametrize(
    ("files", "task", "reason"),
    [
        (
            {"a.jar": MAIN, "b.jar": MAIN},
            {},
            "several jars have a Main-Class: a.jar, b.jar; say with `jar` which one to run",
        ),
        ({"a.jar": jar_of()}, {}, "no Main-Class in the manifest of a.jar: name the class with `main_class`"),
        ({"a.jar": b"no zip"}, {}, "a.jar cannot be read as a jar: File is not a zip file"),
        ({}, {}, "there is no jar to run: set `build_tool`, or name the class to run with `main_class`"),
        (
            {"a.jar": MAIN},
            {"jar": "target/*.jar"},
            "no file in the repository matches jar 'target/*.jar'; jars that are there: a.jar",
        ),
        ({}, {"jar": "../x.jar"}, "jar '../x.jar' must be a path in the repository, such as target/app-*.jar"),
        ({}, {"jar": "/etc/x.jar"}, "jar '/etc/x.jar' must be a path in the repository, such as target/app-*.jar"),
        ({}, {"jar": "a**b"}, "jar 'a**b' cannot be read: Invalid pattern: '**' can only be an entire path component"),
        ({}, {"jar": 3}, "jar must be a text"),
        ({}, {"main_class": "-version"}, "main_class '-version' is no name of a class, such as org.example.Main"),
        ({}, {"main_class": "org.Main"}, "the class org.Main is not in ."),
        ({}, {"args": "one"}, "args must be a list of texts"),
        ({}, {"args": [["x"]]}, "args must be a list of texts"),
        ({}, {"git_url": ["x"]}, "git_url must be a text"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path: Path, files: dict[str, bytes], task: dict[str, Any], reason: str) -> None:
    with pytest.raises(TaskFailed) as refused:
        words(tmp_path, files, **task)
    assert str(refused.value) == reason


def test_a_jar_outside_is_not_run_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside.jar").write_bytes(MAIN)
    root = tmp_path / "root"
    root.mkdir()
    (root / "link.jar").symlink_to(tmp_path / "outside.jar")
    with pytest.raises(TaskFailed, match=r"jar 'link.jar' leads out of the repository"):
        words(root, {}, jar="link.jar")


def test_a_long_line_of_a_manifest_is_read_as_a_whole(tmp_path: Path) -> None:
    name = "org." + "a" * 90
    (tmp_path / "a.jar").write_bytes(jar_of(manifest=f"Main-Class: {name[:40]}\r\n {name[40:]}\r\n"))
    assert jars.main_class_of(tmp_path / "a.jar") == name
