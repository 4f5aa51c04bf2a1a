"""`/api/v1`: JSON over HTTP with bearer tokens, for the command line, the web UI and programs. See docs/api.md."""

from waterclock.faces.api.context import Context
from waterclock.faces.api.routes import api_routes

__all__ = ["Context", "api_routes"]
