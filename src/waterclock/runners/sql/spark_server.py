"""A Spark Connect server of the host's own: one JVM, on loopback, for whoever has its token, gone with the host."""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock import clock
from waterclock.runners import linux
from waterclock.runners.sql.engine import EngineMissing

START_SECONDS: Final = 100.0
LEAVE_SECONDS: Final = 5.0
TOKEN: Final = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_MAIN: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"
_STARTED: Final = re.compile(r"^Spark Connect server started at: .*:(\d+)\s*$", re.MULTILINE)
_LOOK_SECONDS: Final = 0.05
_TAIL_CHARS: Final = 2_000
# Warnings, and the one line that says which port it has.
_LOGGING: Final = f"""rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %m%n%ex{{3}}
logger.started.name = {_MAIN}
logger.started.level = info
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkServer:
    process: "subprocess.Popen[bytes]"
    port: int
    token: str

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        """By name: the client sends a token in the clear to `localhost` alone."""
        return f"sc://localhost:{self.port}/;token={self.token}"

    @classmethod
    def started(cls, master: str) -> "SparkServer":
        """In the working directory, which is the host's own; `EngineMissing` says why it did not."""
        token, log = secrets.token_urlsafe(32), Path("spark.log").absolute()
        submit = _submit()
        for leftover in ("spark-local", "warehouse"):
            shutil.rmtree(leftover, ignore_errors=True)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(submit), "--master", master, "--class", _MAIN, "--name", "waterclock", *_conf(master)],
                env={**os.environ, TOKEN: token},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=linux.die_with_parent,  # noqa: PLW1509 - the host has no threads
            )
        return cls(process=process, port=_port(process, log), token=token)

    def close(self) -> None:
        """In peace, so that it removes what it keeps on the disk."""
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(LEAVE_SECONDS)
        self.process.kill()
        self.process.wait()


def _submit() -> Path:
    import pyspark

    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    if not (home / "bin/spark-submit").exists():
        raise EngineMissing(
            f"there is no Spark in {str(home)!r}, only its client: pip install 'waterclock[spark]' there, or set "
            "SPARK_HOME, or name a server in the setting sql.remote (sc://host:port)"
        )
    return home / "bin/spark-submit"


def _conf(master: str) -> list[str]:
    logging = Path("log4j2.properties").absolute()
    logging.write_text(_LOGGING)
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}",
        "spark.local.dir": str(Path("spark-local").absolute()),
        "spark.sql.warehouse.dir": str(Path("warehouse").absolute()),
        "spark.ui.enabled": "false",
    }
    if master.startswith("local"):
        conf |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]


def _port(process: "subprocess.Popen[bytes]", log: Path) -> int:
    deadline = clock.monotonic() + START_SECONDS
    while clock.monotonic() < deadline:
        said = log.read_text(errors="replace")
        if found := _STARTED.search(said):
            return int(found.group(1))
        if process.poll() is not None:
            raise EngineMissing(f"Spark's server did not start: {_why(said)}")
        time.sleep(_LOOK_SECONDS)
    process.kill()
    process.wait()
    raise EngineMissing(f"Spark's server did not start within {START_SECONDS:.0f} s: see {log}")


def _why(said: str) -> str:
    lines = [line for line in said[-_TAIL_CHARS:].splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
