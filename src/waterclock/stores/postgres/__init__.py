"""PostgreSQL, for a cluster: raw asyncpg, statements by name, batches as one statement, wake-ups by NOTIFY."""

from waterclock.stores.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase"]
