"""Settings: waterclock.toml, then the environment, then flags; the later wins. Every one has a default."""

import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, get_type_hints

from waterclock.domain.errors import InvalidInput
from waterclock.domain.labels import label_set
from waterclock.domain.placement import MOST_MB
from waterclock.domain.role import NODE_ROLES
from waterclock.domain.rules import RULE_SETS, Rules
from waterclock.domain.schedule.zone import find_zone

FILE: Final = "waterclock.toml"
DATABASE: Final = "waterclock.db"  # in the data directory, where no other is named
INSTEAD: Final = {"token": "token_file", "token_file": "token"}  # the later one stands for both
NO_TOKEN: Final = "a worker over HTTP needs one: --token-file FILE, or WATERCLOCK_TOKEN in its environment"
MOST_PROCESSES: Final = 64
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`glue_rules` is `glue.rules` in the file and WATERCLOCK_GLUE_RULES in the environment; the others alike."""

    data_dir: Path = Path(".waterclock")
    db: str = ""  # empty: SQLite in the data directory
    host: str = "127.0.0.1"
    port: int = 8470
    auth: str = "keys"
    api_processes: int = 1  # that answer calls on the one port
    server: str = ""  # of a worker without a database: the addresses of API servers, with commas between them
    token: str = ""  # of a user with the role worker
    token_file: str = ""  # where it lies, instead
    glue_rules: str = "guarded"

    worker_slots: int = 64  # programs at once on this host
    worker_memory_mb: int = 0  # that runs may ask for together; 0: not counted
    worker_queues: tuple[str, ...] = ("default",)
    worker_labels: tuple[str, ...] = ()
    worker_user: str = ""  # run programs as this system user, where we are root
    lease_seconds: float = 60.0
    lease_margin_seconds: float = 5.0  # after its lease a run's processes have this long to be dead
    heartbeat_seconds: float = 5.0
    stop_grace_seconds: float = 10.0
    log_cap_bytes: int = 64 * 1024 * 1024
    logs_store: str = (
        ""  # where nodes find each other's logs: a folder or s3://bucket/prefix; empty: the data directory
    )
    body_limit_bytes: int = 1024 * 1024
    keep_days: float = 90.0
    audit_keep_days: float = 400.0

    node_role: str = "main"  # main or bkp: which chains this host's worker runs
    node_debug: bool = False  # notices about what ran on this node stay in the list of messages

    chains_jobfolder: str = (
        ""  # where steps' programs lie: a folder or s3://bucket/prefix; empty: in the data directory
    )
    chains_depfolder: str = ""  # and gates'
    chains_probe_seconds: float = 60.0  # between two probes of a gate
    chains_failover_seconds: float = 30.0  # main is down when its last heartbeat is older
    chains_timezone: str = "UTC"  # of a chain that names none
    chains_keep_days: Mapping[str, float] = field(default_factory=dict)  # by tag; the others as keep_days says
    channels_private: bool = False  # notices may go to private and loopback addresses

    lake_roots: tuple[str, ...] = ()  # folders that file:// of lake jobs may name, besides `lake` in the data directory
    lake_private: bool = False  # git, outputs and sources of lake jobs may be at private and loopback ones
    lake_timezone: str = "UTC"  # of a schedule_time that names none
    lake_maven_settings: str = ""  # a settings.xml for Maven's builds
    sql_engine: str = "sail"  # or spark
    sql_remote: str = ""  # of spark: sc://host:port, spark://master:7077 or local[2]; empty: local[*]
    sql_python: str = ""  # the interpreter that has the engine; empty: our own
    sql_warm: int = 1  # engines that wait for a query
    sync_python: str = ""  # the interpreter that has DuckDB and pyarrow; empty: that of sql_python
    hadoop_uri: str = ""  # of the destination Hadoop: hdfs://host:9000/base, s3://bucket/base; empty: our `lake` folder
    clickhouse_url: str = ""  # of the outputs that name a table: http://host:8123
    clickhouse_user: str = "default"
    clickhouse_password: str = ""

    script_roots: tuple[str, ...] = ()  # empty: file:// may name any file that the job's system user may read
    interpreters: Mapping[str, str] = field(default_factory=lambda: {"r": "Rscript", "matlab": "matlab"})
    callables: tuple[str, ...] = ()  # module:function names that jobs of kind callable may run
    s3_endpoint: str = ""
    s3_region: str = "us-east-1"

    @property
    def database_url(self) -> str:
        return self.db or f"sqlite:///{self.data_dir.absolute() / DATABASE}"

    @property
    def is_remote(self) -> bool:
        """Of a worker: whether it works for a server, over HTTP. A database that is named goes before a server."""
        return bool(self.server and (self.token or self.token_file) and not self.db)

    @property
    def rules(self) -> Rules:
        return RULE_SETS[self.glue_rules]

    def to_environ(self) -> dict[str, str]:
        """As a child process of ours reads them back."""
        return {f"WATERCLOCK_{entry.name.upper()}": _as_text(getattr(self, entry.name)) for entry in fields(self)}

    def __post_init__(self) -> None:
        _one_of("glue.rules", self.glue_rules, RULE_SETS)
        _one_of("auth", self.auth, ("keys", "none"))
        _one_of("node.role", self.node_role, NODE_ROLES)
        find_zone(self.chains_timezone)
        find_zone(self.lake_timezone)
        _one_of("sql.engine", self.sql_engine, ("sail", "spark"))
        label_set(self.worker_labels, "worker.labels")
        if not 0 <= self.worker_memory_mb <= MOST_MB:
            raise InvalidInput(f"must be 0 to {MOST_MB}", field="worker.memory_mb", value=self.worker_memory_mb)
        _folder("chains.jobfolder", self.chains_jobfolder)
        _folder("chains.depfolder", self.chains_depfolder)
        _folder("logs.store", self.logs_store, whose="that all nodes share")
        if self.auth == "none" and self.host not in LOOPBACK:
            raise InvalidInput(
                f"'none' is refused on {self.host}: without authentication serve on 127.0.0.1 only", field="auth"
            )
        if not 0 <= self.port <= 65535:
            raise InvalidInput("must be 0 to 65535", field="port", value=self.port)
        if not 1 <= self.api_processes <= MOST_PROCESSES:
            raise InvalidInput(f"must be 1 to {MOST_PROCESSES}", field="api.processes", value=self.api_processes)
        for name in (
            "worker_slots",
            "lease_seconds",
            "heartbeat_seconds",
            "log_cap_bytes",
            "body_limit_bytes",
            "audit_keep_days",
            "chains_probe_seconds",
            "chains_failover_seconds",
        ):
            if getattr(self, name) <= 0:
                raise InvalidInput("must be more than 0", field=_shown(name), value=getattr(self, name))
        for tag, days in self.chains_keep_days.items():
            if not days >= 0:
                raise InvalidInput(f"{tag}: must be 0 days or more", field="chains.keep_days", value=days)


def load(flags: Mapping[str, object], environ: Mapping[str, str] = os.environ, folder: Path = Path()) -> Settings:
    """Flags that are None were not given."""
    path = Path(environ.get("WATERCLOCK_CONFIG", folder / FILE))
    given: dict[str, object] = _from_file(path) if path.exists() else {}
    for later in (_from_environment(environ), {name: value for name, value in flags.items() if value is not None}):
        for instead in (name for name in later if name in INSTEAD):
            given.pop(INSTEAD[instead], None)
        given |= later
    return replace(Settings(), **{name: _typed(name, value) for name, value in given.items()})  # type: ignore[arg-type]


_HINTS: Final = get_type_hints(Settings)
_TABLES: Final = frozenset(
    {"api", "glue", "worker", "lease", "s3", "node", "chains", "channels", "logs", "lake", "sql", "clickhouse"}
)
_NAMES: Final = frozenset(entry.name for entry in fields(Settings))


def _from_file(path: Path) -> dict[str, object]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{path} is not TOML: {problem}") from None
    found: dict[str, object] = {}
    for name, value in _flat(tree):
        if name not in _NAMES:
            raise InvalidInput(f"unknown setting {_shown(name)!r} in {path}")
        found[name] = value
    return found


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in tree.items():
        name = f"{prefix}{key.replace('-', '_')}"
        if isinstance(value, dict) and name not in _NAMES:
            found += _flat(value, f"{name}_")
        else:
            found.append((name, value))
    return found


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    return {name: environ[key] for name in _NAMES if (key := f"WATERCLOCK_{name.upper()}") in environ}


def _typed(name: str, value: Any) -> object:
    """As the field wants it; from the environment everything is text, lists with commas."""
    hint = _HINTS[name]
    try:
        if hint in (int, float, str, Path):
            return hint(value)
        if hint is bool:
            return _yes_or_no(value)
        if hint == Mapping[str, float]:
            return {tag: float(days) for tag, days in (_pairs(value) if isinstance(value, str) else value.items())}
        if hint == tuple[str, ...]:
            return _words(value) if isinstance(value, str) else tuple(value)
        return dict(_pairs(value) if isinstance(value, str) else value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput(f"{value!r} does not fit", field=_shown(name), value=value) from None


def _yes_or_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}[
        str(value).strip().lower()
    ]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items())
    return str(value.absolute() if isinstance(value, Path) else value)


def _pairs(text: str) -> list[tuple[str, str]]:
    """`r=Rscript,octave=/usr/bin/octave`"""
    return [(key.strip(), value.strip()) for key, _, value in (pair.partition("=") for pair in text.split(",")) if key]


def _one_of(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise InvalidInput(f"must be one of {', '.join(map(repr, known))}", field=name, value=value)


def _folder(name: str, value: str, *, whose: str = "of the worker's") -> None:
    if "://" in value and not (value.startswith("s3://") and value.removeprefix("s3://").split("/")[0]):
        raise InvalidInput(f"must be a folder {whose}, or s3://bucket/prefix", field=name, value=value)


def _shown(name: str) -> str:
    head, _, tail = name.partition("_")
    return f"{head}.{tail}" if head in _TABLES and tail else name
