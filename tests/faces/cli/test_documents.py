"""What docs/cli.md and docs/api.md say is so."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from waterclock.faces.api.routes import PREFIX, TABLE
from waterclock.faces.cli import main

DOCS = Path(__file__).parents[3] / "docs"


def test_every_route_is_in_the_document_and_no_other() -> None:
    written = set(re.findall(r"^\| `([A-Z]+) (/\S+)` \|", (DOCS / "api.md").read_text(), re.MULTILINE))
    assert written == {(method, path) for method, path, _ in TABLE}
    assert f"`{PREFIX}`" in (DOCS / "api.md").read_text()


@pytest.mark.parametrize("document", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_every_command_in_the_documents_exists(document: Path) -> None:
    for line in re.findall(r"^\$ (waterclock .*)$", document.read_text(), re.MULTILINE):
        words = shlex.split(re.split(r" [<>|] ", line)[0])[1:]
        command: click.Command | None = main
        with click.Context(main) as context:
            while isinstance(command, click.Group):
                command = command.get_command(context, words.pop(0))
            assert command is not None, line
            command.make_parser(context).parse_args(args=words)


def test_every_preview_in_the_document_is_right() -> None:
    shown = re.findall(r"^\$ waterclock (cron next .*)\n((?:[^$`].*\n)+)", (DOCS / "cli.md").read_text(), re.MULTILINE)
    assert len(shown) == 2
    for line, answer in shown:
        assert CliRunner().invoke(main, shlex.split(line)).stdout == answer
