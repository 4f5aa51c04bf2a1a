"""What the lake is tested with: each starts, gives back what it was given, and refuses who may not.

The SQL engines have their own test: test_corpus.py.
"""

import os
import socket
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.services.build_tools import BuildTools
from tests.services.chdb import ChdbServer
from tests.services.clickhouse import ClickhouseServer, HttpClickhouse, QueryRefused
from tests.services.components import PROJECT
from tests.services.hdfs import HdfsServer
from tests.services.s3 import S3Server
from tests.services.server import is_alive

pytestmark = pytest.mark.heavy

STORE = """
import sys
from hdfs_native import Client
client = Client(sys.argv[1])
with client.create(sys.argv[2]) as file:
    file.write("물시계\\n".encode())
"""
SHUT_AWAY = """
import sys
from hdfs_native import Client
client = Client(sys.argv[1])
client.mkdirs(sys.argv[2], 0o700)
"""
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>hello</artifactId><version>1.0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
</project>
"""
JAVA = 'public class Hello { public static void main(String[] args) { System.out.println("hello " + args[0]); } }\n'


@pytest.fixture(params=["clickhouse", "chdb_server"])
def either_clickhouse(request: pytest.FixtureRequest) -> HttpClickhouse:
    server = request.getfixturevalue(request.param)
    assert isinstance(server, HttpClickhouse)
    return server


def ran(*argv: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, argv)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_waterclock_is_imported_from_its_sources_beside_the_engines(lake_python: Path) -> None:
    said = ran(lake_python, "-c", "import waterclock.runners.lake.order as module; print(module.__file__)")
    assert Path(said.stdout.strip()).is_relative_to(PROJECT / "src"), said.stderr


def test_hdfs_keeps_a_file(hdfs: HdfsServer, lake_python: Path) -> None:
    said = ran(lake_python, "-c", STORE, hdfs.uri, "/kept/file.txt")
    assert said.returncode == 0, said.stderr
    assert hdfs.list("/kept") == ["file.txt"]
    assert hdfs.read("/kept/file.txt") == "물시계\n".encode()


def test_hdfs_keeps_its_files_and_its_port_when_it_is_stopped(hdfs: HdfsServer, lake_python: Path) -> None:
    assert ran(lake_python, "-c", STORE, hdfs.uri, "/kept/longer.txt").returncode == 0
    before, family = hdfs.uri, [psutil.Process(node.pid) for node in hdfs.nodes]
    hdfs.stop()
    try:
        assert not any(map(is_alive, family))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", int(hdfs.host_port.partition(":")[2])))
    finally:
        hdfs.start()
    assert hdfs.uri == before
    assert hdfs.read("/kept/longer.txt") == "물시계\n".encode()


def test_hdfs_refuses_a_user_whom_a_folder_is_shut_to(hdfs: HdfsServer, lake_python: Path) -> None:
    assert ran(lake_python, "-c", SHUT_AWAY, hdfs.uri, "/shut").returncode == 0
    said = ran(lake_python, "-c", STORE, hdfs.uri, "/shut/file.txt", HADOOP_USER_NAME="stranger")
    assert "Permission denied" in said.stderr


def test_a_file_that_hdfs_has_not_is_not_found(hdfs: HdfsServer) -> None:
    with pytest.raises(FileNotFoundError):
        hdfs.read("/never")


def test_clickhouse_is_as_old_as_it_says(clickhouse: ClickhouseServer) -> None:
    assert clickhouse.query("SELECT version()").startswith("18.16.")


def test_rows_come_back(either_clickhouse: HttpClickhouse) -> None:
    for statement in (
        "CREATE DATABASE kept",
        "CREATE TABLE kept.t (n Int32, s String) ENGINE = MergeTree() ORDER BY n",
        'INSERT INTO kept.t FORMAT JSONEachRow {"n": 2, "s": "물시계"} {"n": 1, "s": "tab\\there"}',
    ):
        assert either_clickhouse.query(statement) == ""
    assert either_clickhouse.query("SELECT n, s FROM kept.t ORDER BY n") == "1\ttab\\there\n2\t물시계\n"
    either_clickhouse.query("DROP DATABASE kept")


def test_rows_may_follow_a_statement_in_the_url(chdb_server: ChdbServer, clickhouse: ClickhouseServer) -> None:
    for server in (chdb_server, clickhouse):
        server.query("CREATE TABLE followed (n Int32, s String) ENGINE = MergeTree() ORDER BY n")
        server.insert("INSERT INTO followed FORMAT TabSeparated", b"1\ta\\tb\n2\t\\N\n")
        assert server.query("SELECT count(), sum(n) FROM followed") == "2\t3\n"
        server.query("DROP TABLE followed")


@pytest.mark.parametrize(("user", "password"), [("waterclock", "wrong"), ("nobody", ""), ("default", "")])
def test_a_wrong_password_is_refused(either_clickhouse: HttpClickhouse, user: str, password: str) -> None:
    with pytest.raises(QueryRefused, match=r"^(401|403|500): Code: (192|193|194|516)[,.]"):
        either_clickhouse.query("SELECT 1", user=user, password=password)


def test_a_table_that_is_missing_is_said_to_be(either_clickhouse: HttpClickhouse) -> None:
    with pytest.raises(QueryRefused, match=r"^(404|500): Code: 60[,.].*missing"):
        either_clickhouse.query("SELECT * FROM missing")


def test_the_modern_engine_swaps_tables_at_once(chdb_server: ChdbServer) -> None:
    chdb_server.query("CREATE TABLE one (n Int32) ENGINE = MergeTree() ORDER BY n")
    chdb_server.query("CREATE TABLE two (n Int32) ENGINE = MergeTree() ORDER BY n AS SELECT 2")
    chdb_server.query("EXCHANGE TABLES one AND two")
    assert chdb_server.query("SELECT n FROM one") == "2\n"


def test_s3_keeps_an_object_beside_them(s3: S3Server) -> None:
    client = s3.client()
    client.create_bucket(Bucket="lake")
    client.put_object(Bucket="lake", Key="a/b", Body=b"rows")
    assert client.get_object(Bucket="lake", Key="a/b")["Body"].read() == b"rows"


def test_a_package_that_debian_has_not_says_so() -> None:
    said = ran(PROJECT / "tools/debian-packages", "no-such-tree", "usr/bin/none", "no-such-package")
    why = PROJECT / ".cache/no-such-tree.why"
    assert (said.returncode, said.stdout) == (1, "")
    assert why.read_text() == "no-such-tree: Debian's packages could not be fetched (no-such-package)\n"
    why.unlink()
    why.with_suffix(".lock").unlink()


def test_maven_builds_a_jar(build: BuildTools, tmp_path: Path) -> None:
    sources = tmp_path / "src/main/java"
    sources.mkdir(parents=True)
    (sources / "Hello.java").write_text(JAVA)
    (tmp_path / "pom.xml").write_text(POM)
    said = ran(build.bin / "mvn", "-B", "-q", "-s", build.maven_settings, "-f", tmp_path / "pom.xml", "package")
    assert said.returncode == 0, said.stdout + said.stderr
    hello = ran(build.bin / "java", "-cp", tmp_path / "target/hello-1.0.jar", "Hello", "maven")
    assert hello.stdout == "hello maven\n"


def test_gradle_builds_a_jar(build: BuildTools, tmp_path: Path) -> None:
    sources = tmp_path / "src/main/java"
    sources.mkdir(parents=True)
    (sources / "Hello.java").write_text(JAVA)
    (tmp_path / "build.gradle").write_text("apply plugin: 'java'\n")
    (tmp_path / "settings.gradle").write_text("rootProject.name = 'hello'\n")
    said = ran(
        build.bin / "gradle", "--offline", "--no-daemon", "-p", tmp_path, "jar", GRADLE_USER_HOME=str(tmp_path / "home")
    )
    assert said.returncode == 0, said.stdout + said.stderr
    hello = ran(build.bin / "java", "-cp", tmp_path / "build/libs/hello.jar", "Hello", "gradle")
    assert hello.stdout == "hello gradle\n"
