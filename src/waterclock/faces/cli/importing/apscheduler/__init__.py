"""`waterclock import apscheduler`: jobs from an SQLAlchemy store of APScheduler 3.x. See docs/import-apscheduler.md."""
