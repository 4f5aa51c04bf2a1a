"""`/lake`: Java, SQL, Python and sync jobs over REST, as the seed has them. See docs/lake.md."""

from waterclock.faces.lake.routes import lake_routes

__all__ = ["lake_routes"]
