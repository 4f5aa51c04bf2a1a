"""Sync jobs, which bring rows from a source into the lake: their kinds, how they read and write, their statuses."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.moment import Moment


class SyncKind(StrEnum):
    """The `class_name` of a sync job, which is also its kind in the engine."""

    DB = "sync_db_job"
    SERVICE = "sync_service_job"
    FILE = "sync_file_job"


ALIASES: Final[Mapping[str, SyncKind]] = {
    "jdbc_job": SyncKind.DB,
    "generic_jdbc_job": SyncKind.DB,
    "amazon_s3_job": SyncKind.FILE,
    "google_sheets_job": SyncKind.FILE,
}
SYNC_KINDS: Final = frozenset(SyncKind)
PROBE: Final = "lake_probe"  # the kind of a run that tests or previews a source, and is no job of anybody's


class SyncMode(StrEnum):
    FULL = "FullSync"  # all rows, loaded aside and swapped
    INCREMENTAL = "IncrementalSync"  # what is new since the watermark


class SyncStatus(StrEnum):
    INIT = "Init"
    QUEUED = "Queued"
    SYNCING = "Syncing"
    SYNCED = "Synced"
    ERROR = "Error"
    TERMINATED = "Terminated"
    UNKNOWN = "Unknown"


class SourceKind(StrEnum):
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"  # MariaDB, too
    SQLITE = "sqlite"
    SQLALCHEMY = "sqlalchemy"  # any other URL, row by row
    REST = "rest"
    S3 = "s3"
    HTTP = "http"
    SFTP = "sftp"
    LOCAL = "local"
    GOOGLE_SHEETS = "google_sheets"


READ_BY: Final[Mapping[SyncKind, frozenset[SourceKind]]] = {
    SyncKind.DB: frozenset({SourceKind.POSTGRESQL, SourceKind.MYSQL, SourceKind.SQLITE, SourceKind.SQLALCHEMY}),
    SyncKind.SERVICE: frozenset({SourceKind.REST}),
    SyncKind.FILE: frozenset(
        {SourceKind.S3, SourceKind.HTTP, SourceKind.SFTP, SourceKind.LOCAL, SourceKind.GOOGLE_SHEETS}
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeSource:
    """A place that rows come from; `config` has references in the place of its secrets."""

    id: int
    org_id: int
    name: str
    kind: SourceKind
    owner: str
    creator: str
    config: Mapping[str, object]
    created_at: Moment
    updated_at: Moment
