"""Rows of databases: PostgreSQL, MySQL, SQLite by DuckDB, which speaks their protocols; any other by SQLAlchemy."""
