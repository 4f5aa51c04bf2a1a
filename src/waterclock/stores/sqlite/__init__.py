"""SQLite: one file, one writer thread that commits whatever has gathered in one go, and readers beside it."""

from waterclock.stores.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase"]
