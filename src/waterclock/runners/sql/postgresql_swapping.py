"""What a PostgreSQL table has that one made like it has not: whose it is, who may read it, its sequences."""

from collections.abc import Callable
from typing import Any, Final

from waterclock.runners.sql.table_statements import quoted

Rows = Callable[..., list[Any]]

_HELD: Final = """
SELECT c.relkind <> 'r' OR c.relrowsecurity OR c.relispartition OR c.relhasrules
    OR EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
    OR EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid)
    OR EXISTS (SELECT 1 FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
        WHERE d.refobjid = c.oid AND d.classid = 'pg_rewrite'::regclass)
    OR EXISTS (SELECT 1 FROM pg_publication_rel p WHERE p.prrelid = c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s
"""
_OWNER: Final = """
SELECT quote_ident(pg_get_userbyid(c.relowner)), c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s
"""
_PRIVILEGES: Final = """
SELECT x.privilege_type, CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END,
    x.is_grantable
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL aclexplode(c.relacl) x
WHERE n.nspname = %s AND c.relname = %s AND x.grantee <> c.relowner
"""
_SEQUENCES: Final = """
SELECT s.oid::regclass::text, a.attname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_depend d ON d.refobjid = c.oid AND d.deptype = 'a' AND d.classid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
WHERE n.nspname = %s AND c.relname = %s
"""


def is_held(rows: Rows, schema: str, table: str) -> bool:
    """Whether others hold on to the table itself, by whatever name it has: views, triggers, foreign keys, policies."""
    [[held]] = rows(_HELD, schema, table)
    return bool(held)


def belongings(rows: Rows, schema: str, table: str, new: str) -> list[str]:
    """The statements that give the new one what the old one has."""
    to = f"{quoted(schema)}.{quoted(new)}"
    given = [
        f"GRANT {privilege} ON {to} TO {grantee}{' WITH GRANT OPTION' if grantable else ''}"
        for privilege, grantee, grantable in rows(_PRIVILEGES, schema, table)
    ]
    given += [
        f"ALTER SEQUENCE {sequence} OWNED BY {to}.{quoted(column)}"
        for sequence, column in rows(_SEQUENCES, schema, table)
    ]
    [[owner, is_other]] = rows(_OWNER, schema, table)
    return [*given, f"ALTER TABLE {to} OWNER TO {owner}"] if is_other else given
