"""The schema that a store has: what two stores are compared by."""

from typing import Final

from tests.stores.raw import rows

PARTITIONS: Final = "(SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r')"


async def tables(url: str) -> list[str]:
    """Names and columns: what a schema is made of. Partitions are as their tables are, and have the names of days."""
    match url.split(":", maxsplit=1)[0]:
        case "sqlite":
            found = await rows(url, "SELECT type, name, sql AS what FROM sqlite_master ORDER BY type, name")
        case "postgresql":
            found = await rows(
                url,
                "SELECT table_name AS name, column_name || ' ' || data_type || ' ' || is_nullable AS what"
                f" FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN {PARTITIONS}"
                " UNION ALL SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
                f" AND tablename NOT IN {PARTITIONS} ORDER BY 1, 2",
            )
        case _:
            found = await rows(
                url,
                "SELECT table_name AS name, CONCAT(column_name, ' ', column_type, ' ', is_nullable, ' ',"
                " COALESCE(collation_name, '')) AS what FROM information_schema.columns WHERE table_schema = DATABASE()"
                " UNION ALL SELECT table_name, CONCAT(index_name, ' ', seq_in_index, ' ', column_name)"
                " FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, 2",
            )
    return [f"{row['name']}: {row['what']}" for row in found]
