"""`waterclock lake`: its commands, each imported when it is asked for."""

from typing import Final

import click

from waterclock.faces.cli.lazy import LazyGroup

_HERE: Final = "waterclock.faces.cli.lake"
COMMANDS: Final = {
    "sql": f"{_HERE}.making:sql",
    "python": f"{_HERE}.making:python",
    "java": f"{_HERE}.making:java",
    "sync": f"{_HERE}.syncing:sync",
    "create": f"{_HERE}.jobs:create",
    "update": f"{_HERE}.jobs:update",
    "show": f"{_HERE}.jobs:show",
    "list": f"{_HERE}.jobs:list_jobs",
    "delete": f"{_HERE}.jobs:delete",
    "run": f"{_HERE}.running:run",
    "kill": f"{_HERE}.running:kill",
    "status": f"{_HERE}.running:status",
    "history": f"{_HERE}.running:history",
    "logs": f"{_HERE}.running:logs",
    "table": f"{_HERE}.tables:table",
    "source": f"{_HERE}.sources:source",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def lake() -> None:
    """Java, SQL, Python and sync jobs: from git, a file or a source, by a schedule or by hand.

    \b
    Examples:
      waterclock lake table create orders --format parquet --path file:///data/orders
      waterclock lake sql totals --query 'select day, sum(price) from orders group by day' --output text:file:///data/out
      waterclock lake run 1 --follow
      waterclock lake python report --code-file report.py --requirement requests --cron '0 6 * * *'
      waterclock lake java etl --git-url https://example.com/etl.git --build-tool maven --main-class etl.Main
      waterclock lake sync orders --source shop --table orders --to parquet:file:///data/orders --follow
      waterclock lake history

    A job is named by its number, which `create` prints.
    """
