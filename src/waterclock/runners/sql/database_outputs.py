"""Outputs that are tables of a database: of a source that the job names, or of a file of this machine."""

from collections.abc import Mapping
from typing import Any, Final

from waterclock.domain.lake_sync import SourceKind
from waterclock.runners.lake.order import Order
from waterclock.runners.sql.configs import how_of, table_in, text_in
from waterclock.runners.sql.databases import Database
from waterclock.runners.sql.duckdb_file import DuckdbFile
from waterclock.runners.sql.mysql import MysqlDatabase
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.postgresql import PostgresqlDatabase
from waterclock.runners.sql.tables import TableOutput

SERVERS: Final = frozenset({"postgresql", "mysql", "jdbc"})
FILE: Final = "duckdb"


def table_output(kind: str, config: Mapping[str, Any], *, tag: Tag, order: Order) -> TableOutput:
    table = table_in(config)
    how = how_of(config, "append", order)
    if kind == FILE:
        database: Database = DuckdbFile(text_in(config, "path"), table=table, roots=order.roots)
    else:
        database = _server(kind, config, table=table, tag=tag, order=order)
    return TableOutput(database, table=table, how=how, tag=tag)


def _server(kind: str, config: Mapping[str, Any], *, table: str, tag: Tag, order: Order) -> Database:
    source = _source(config, order)
    found, given = str(source.get("kind")), source.get("config") or {}
    if kind not in ("jdbc", found) or found not in SERVERS:
        wanted = "postgresql or mysql" if kind == "jdbc" else kind
        raise OutputFailed(f"config.source {source.get('id')} is of the kind {found}: {kind} needs one of {wanted}")
    private = order.allows_private
    if found == SourceKind.POSTGRESQL:
        schema = text_in(config, "schema", "public")
        return PostgresqlDatabase(given, schema=schema, table=table, tag=tag, allows_private=private)
    return MysqlDatabase(given, table=table, tag=tag, allows_private=private)


def _source(config: Mapping[str, Any], order: Order) -> Mapping[str, Any]:
    wanted = config.get("source_id", config.get("source"))
    if wanted is None:
        raise OutputFailed("config.source is missing: name a source that says where the database is")
    found = next((each for each in order.sources if str(each.get("id")) == str(wanted)), None)
    if found is None:
        raise OutputFailed(f"config.source {wanted!r} is no source that this run was given")
    return found
