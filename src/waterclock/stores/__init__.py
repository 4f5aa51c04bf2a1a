"""Where everything durable lives: one protocol, three databases, one suite of tests for all."""

from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url

__all__ = ["Database", "database_from_url"]
