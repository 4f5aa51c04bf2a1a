"""MySQL ≥ 8.0.16 and MariaDB ≥ 10.6: asyncmy, statements by name, batches as JSON tables, wake-ups by a short poll."""

from waterclock.stores.mysql.database import MysqlDatabase

__all__ = ["MysqlDatabase"]
