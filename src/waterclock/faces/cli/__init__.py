"""The command line: starts servers, previews schedules, and is otherwise a client of `/api/v1`. See docs/cli.md."""

from waterclock.faces.cli.root import main

__all__ = ["main"]
