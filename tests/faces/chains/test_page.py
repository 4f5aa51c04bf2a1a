"""docs/chains-rest.md: its examples are one program, run word by word against `waterclock up`."""

import re
import subprocess
import sys
from pathlib import Path

from tests.acceptance.server import REPO, running
from waterclock.faces.chains.routes import TABLE

PAGE = (REPO / "docs" / "chains-rest.md").read_text()


def test_the_examples_print_what_the_page_says(tmp_path: Path) -> None:
    program = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    printed = "".join(re.findall(r"```\n```\n(.*?)```", PAGE, re.DOTALL))
    with running(tmp_path) as server:
        (tmp_path / ".waterclock").symlink_to(server.data)
        ran = subprocess.run(
            [sys.executable, "-c", program.replace("http://127.0.0.1:8470", server.address)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.stdout.splitlines() == printed.splitlines(), ran.stderr


def test_the_page_has_every_route_and_no_other() -> None:
    named = re.findall(r"^\| `([A-Z]+) (/chains\S*)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted((method, f"/chains{path}") for method, path, _ in TABLE)


def test_every_page_that_it_names_exists() -> None:
    for page in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", PAGE):
        assert (REPO / "docs" / page).exists(), page
