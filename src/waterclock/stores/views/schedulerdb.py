"""The chains' tables once more as schedulerDB.jobchain_table and so on, under the name of the database they came from.

Whatever else has that name is left alone: the old scheduler's own database may live on the same server, or another
Waterclock was here first. Nothing of this is worth a failed migration.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from waterclock.stores.dialect import Dialect

log: Final = logging.getLogger("waterclock.stores")

PLACE: Final = "schedulerDB"
NAMES: Final = ("jobchain_table", "deptable", "jobtable", "jobchain_lst_run", "realtime_status", "schedulerMessage")

# By dialect. PostgreSQL's catalogue shows also what this user may not read; in MySQL whoever may create sees all.
EXISTS: Final = {
    "postgres": "SELECT 1 AS is_there FROM pg_namespace WHERE nspname = 'schedulerdb'",
    "mysql": "SELECT 1 AS is_there FROM information_schema.schemata WHERE schema_name = 'schedulerDB'",
}
FOUND: Final = {
    "postgres": """SELECT c.relname AS name, CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END AS definition
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'schedulerdb'
UNION ALL SELECT p.proname, NULL FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = 'schedulerdb'""",
    "mysql": """SELECT t.table_name AS name, v.view_definition AS definition FROM information_schema.tables t
LEFT JOIN information_schema.views v ON v.table_schema = t.table_schema AND v.table_name = t.table_name
WHERE t.table_schema = 'schedulerDB'
UNION ALL SELECT routine_name, NULL FROM information_schema.routines WHERE routine_schema = 'schedulerDB'""",
}
# PostgreSQL refuses to drop a view while one of schedulerdb selects from it; of these only what shows ours is dropped.
DROP: Final = """DO $$ DECLARE shown TEXT; BEGIN
  FOR shown IN SELECT DISTINCT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_rewrite w ON w.ev_class = c.oid
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::REGCLASS AND d.objid = w.oid AND d.refclassid = 'pg_class'::REGCLASS
    JOIN pg_class o ON o.oid = d.refobjid AND o.relkind = 'v' AND o.relname = c.relname
    JOIN pg_namespace p ON p.oid = o.relnamespace AND p.nspname = current_schema()
    WHERE n.nspname = 'schedulerdb' AND n.nspname <> p.nspname AND c.relkind = 'v'
  LOOP EXECUTE format('DROP VIEW schedulerdb.%I', shown); END LOOP;
END $$"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something in schedulerDB. Only a view that we may look into has a definition."""

    name: str
    definition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """What is in schedulerDB, seen from the Waterclock whose tables are in `source`."""

    dialect: Dialect
    source: str
    exists: bool
    found: tuple[Found, ...]

    @property
    def ours(self) -> tuple[str, ...]:
        mine = {each.name.lower() for each in self.found if _shows(each, self.source)}
        return tuple(name for name in NAMES if name.lower() in mine)

    @property
    def others(self) -> tuple[str, ...]:
        mine = {name.lower() for name in self.ours}
        return tuple(sorted(each.name for each in self.found if each.name.lower() not in mine))

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in NAMES if name not in self.ours)

    def makes(self, *, anew: bool) -> tuple[str, ...]:
        """What is ours is made anew where the views below it were; what is missing, only where nobody else is.

        CREATE without OR REPLACE, always in the same order: of two that begin at once the second fails at the first.
        """
        again = [f"CREATE OR REPLACE VIEW {self._view(name)}" for name in self.ours if anew]
        place = [] if self.exists else [f"CREATE {self._kind} {PLACE}"]
        new = () if self.others else tuple(f"CREATE VIEW {self._view(name)}" for name in self.missing)
        return (*again, *place, *new)

    @property
    def _kind(self) -> str:
        return "DATABASE" if self.dialect.name == "mysql" else "SCHEMA"

    def _view(self, name: str) -> str:
        mark = "`" if self.dialect.name == "mysql" else '"'
        source = self.source.replace(mark, 2 * mark)
        return f"{PLACE}.{name} AS SELECT * FROM {mark}{source}{mark}.{name}"  # noqa: S608 - our own names


def seen(dialect: Dialect, source: str, *, exists: bool, found: Iterable[tuple[str, str | None]]) -> Neighbour | None:
    """None where there is nothing to do: a Waterclock that lives in schedulerDB has the names there already."""
    if source.lower() == PLACE.lower():
        return None
    parts = tuple(Found(name=name, definition=definition) for name, definition in found)
    return Neighbour(dialect=dialect, source=source, exists=exists, found=parts)


def tell(reason: object, *, anew: bool) -> None:
    """A warning when the views have changed, which is once in a release; every start tries again in silence."""
    level = logging.WARNING if anew else logging.DEBUG
    log.log(level, "the chains' tables are not shown as %s.*: %s", PLACE, reason)


def tell_of_others(neighbour: Neighbour, *, anew: bool) -> None:
    """Where they are why something is missing."""
    if neighbour.others and neighbour.missing:
        names = ", ".join(neighbour.others[:3]) + (", …" if neighbour.others[3:] else "")
        tell(f"what is there ({names}) is not of this store, and is left alone", anew=anew)


def _shows(found: Found, source: str) -> bool:
    """Whether it is a view that shows our view of its name; databases write it with and without quotes and place."""
    text, whole = _plain(found.definition or ""), _plain(f"from {source}.{found.name}")
    return text.endswith((f" {whole}", f" from {_plain(found.name)}"))


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").replace('"', "").rstrip("; \n").lower().split())
