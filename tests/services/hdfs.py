"""A real HDFS: a NameNode and a DataNode of Hadoop 2.7.4, each a Java process of its own, on loopback."""

import json
import os
import pwd
import signal
import urllib.error
import urllib.parse
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.services.components import component
from tests.services.loopback import answer_of
from tests.services.server import Server, free_port

# Hadoop 2.7 is from before Java's modules.
OPENED: Final = ("java.lang", "java.util", "java.util.concurrent", "java.io", "java.net", "java.nio", "sun.nio.ch")
FOR_OLD_CODE: Final = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
)
# Its speed is of no interest here, its start is.
SMALL: Final = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true")
COMMON: Final[Mapping[str, object]] = {
    "dfs.replication": 1,
    "dfs.heartbeat.interval": 1,
    "dfs.namenode.safemode.extension": 0,
    "dfs.namenode.edits.noeditlogchannelflush": "true",
    "dfs.namenode.datanode.registration.ip-hostname-check": "false",
}
LOGGING: Final = """\
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{HH:mm:ss} %p %c{2}: %m%n
"""
NO_PAGES: Final = "<web-app/>\n"  # Hadoop's own are not among the jars; its REST interface needs none


class HdfsServer:
    """`uri` is what clients are given. Whoever runs the tests is its superuser; `read` and `list` go over WebHDFS."""

    def __init__(self) -> None:
        self._name_node = _NameNode()
        self._data_node = _DataNode(self._name_node)

    @property
    def nodes(self) -> Sequence[Server]:
        return (self._name_node, self._data_node)

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self._name_node.port}"

    @property
    def uri(self) -> str:
        return f"hdfs://{self.host_port}"

    def read(self, path: str) -> bytes:
        """What the file holds; FileNotFoundError where there is none."""
        return self._rest(path, "OPEN")

    def list(self, path: str) -> list[str]:
        """The names in the folder, sorted; FileNotFoundError where there is none."""
        statuses = json.loads(self._rest(path, "LISTSTATUS"))["FileStatuses"]["FileStatus"]
        return sorted(status["pathSuffix"] for status in statuses)

    def start(self) -> None:
        """Returns once files can be stored; on the same port and files as before."""
        with ThreadPoolExecutor() as side_by_side:  # each takes seconds, and the one waits for the other anyway
            for started in [side_by_side.submit(node.start) for node in self.nodes]:
                started.result()

    def stop(self) -> None:
        """Nobody answers at its port any more."""
        self._data_node.kill()
        self._name_node.kill()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.remove()

    def remove(self) -> None:
        self._data_node.remove()
        self._name_node.remove()

    def _rest(self, path: str, operation: str) -> bytes:
        asked = urllib.parse.urlencode({"op": operation, "user.name": pwd.getpwuid(os.geteuid()).pw_name})
        try:
            return answer_of(f"{self._name_node.web}/webhdfs/v1{urllib.parse.quote(path)}?{asked}")
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404:
                raise FileNotFoundError(path) from None
            raise


class _Node(Server):
    """One of the two: `main_class` with `properties`, which name its folders and ports."""

    main_class: str

    def __init__(self, name: str) -> None:
        java, hadoop, jersey = component("java"), component("hadoop"), component("jersey")
        super().__init__(name)
        class_path = (self.folder / "conf", hadoop / "*", jersey / "usr/share/java/*")
        options = (*SMALL, *FOR_OLD_CODE, "-cp", ":".join(map(str, class_path)))
        self._java: Sequence[str | Path] = (java / "bin/java", *options, self.main_class)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        super().stop(with_signal)

    def _properties(self) -> Mapping[str, object]:
        raise NotImplementedError

    def _as_its_user(self, *argv: str | Path) -> list[str]:
        return list(map(str, argv))

    def _prepare(self) -> None:
        conf = self.folder / "conf"
        for role in ("hdfs", "datanode"):
            (conf / f"webapps/{role}/WEB-INF").mkdir(parents=True)
            (conf / f"webapps/{role}/WEB-INF/web.xml").write_text(NO_PAGES)
        chosen = {"hadoop.tmp.dir": f"{self.folder}/tmp", **COMMON, **self._properties()}
        lines = (f"<property><name>{name}</name><value>{value}</value></property>" for name, value in chosen.items())
        (conf / "hdfs-site.xml").write_text("<configuration>\n" + "\n".join(lines) + "\n</configuration>\n")
        (conf / "log4j.properties").write_text(LOGGING)

    def _command(self) -> Sequence[str | Path]:
        return self._java


class _NameNode(_Node):
    main_class = "org.apache.hadoop.hdfs.server.namenode.NameNode"

    def __init__(self) -> None:
        super().__init__("namenode")
        self._web_port = free_port()

    @property
    def web(self) -> str:
        return f"http://127.0.0.1:{self._web_port}"

    def live_data_nodes(self) -> int | None:
        """How many it would hand a block to; None while it does not serve."""
        asked = "Hadoop:service=NameNode,name=FSNamesystemState"
        try:
            (state,) = json.loads(answer_of(f"{self.web}/jmx?qry={asked}"))["beans"]
        except (OSError, ValueError):
            return None
        return int(state["NumLiveDataNodes"]) if state["FSState"] == "Operational" else 0

    def _properties(self) -> Mapping[str, object]:
        return {
            "fs.defaultFS": f"hdfs://127.0.0.1:{self.port}",
            "dfs.namenode.name.dir": f"file://{self.folder}/name",
            "dfs.namenode.http-address": f"127.0.0.1:{self._web_port}",
        }

    def _prepare(self) -> None:
        super()._prepare()
        self._run(*self._java, "-format", "-force", "-nonInteractive")

    def _is_ready(self) -> bool:
        return self.live_data_nodes() is not None


class _DataNode(_Node):
    main_class = "org.apache.hadoop.hdfs.server.datanode.DataNode"

    def __init__(self, name_node: _NameNode) -> None:
        super().__init__("datanode")
        self._name_node = name_node

    def _properties(self) -> Mapping[str, object]:
        return {
            "fs.defaultFS": f"hdfs://127.0.0.1:{self._name_node.port}",
            "dfs.datanode.data.dir": f"file://{self.folder}/data",
            "dfs.datanode.address": f"127.0.0.1:{self.port}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{free_port()}",
            "dfs.datanode.http.address": f"127.0.0.1:{free_port()}",
        }

    def _is_ready(self) -> bool:
        return self._name_node.live_data_nodes() == 1
