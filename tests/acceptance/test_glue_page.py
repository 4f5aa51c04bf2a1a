"""docs/glue.md: its example, word by word, against `waterclock up`, and its importer as a program of its own."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.acceptance.server import REPO, Server, running

PAGE = (REPO / "docs" / "glue.md").read_text()


def test_the_example_prints_what_the_page_says_and_the_importer_finds_it(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    ((source, printed),) = re.findall(r"With `load.py` as `(.*?)` this prints\n```\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "load.py"
    script.write_text(source)
    with running(tmp_path) as server:
        example = example.replace("/srv/jobs/load.py", str(script)).replace("http://127.0.0.1:8470", server.address)
        ran = python(server, "-c", example)
        assert ran.stdout == printed, ran.stderr
        read = python(server, "-m", "waterclock", "import", "glue", "--from-endpoint", server.address, "--json")
        found = {step["name"]: step["verdict"] for step in json.loads(read.stdout)["steps"]}
        assert found == {"load": "same", "at night": "same"}, read.stderr


def python(server: Server, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**server.environment, "AWS_SHARED_CREDENTIALS_FILE": str(server.data / "credentials")}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_every_page_that_it_names_exists() -> None:
    for page in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", PAGE):
        assert (REPO / "docs" / page).exists(), page
