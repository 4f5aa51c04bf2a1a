"""The README's example, word by word, against `waterclock up`."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.acceptance.server import REPO, running


def test_the_boto3_example_runs_as_it_stands(tmp_path: Path) -> None:
    script = tmp_path / "nightly.py"
    script.write_text("import sys\nprint(sys.argv)\n")
    with running(tmp_path) as server:
        examples = re.findall(r"```python\n(.*?)```", (REPO / "README.md").read_text(), re.DOTALL)
        (example,) = (each for each in examples if "boto3" in each)
        example = example.replace("/srv/jobs/nightly.py", str(script)).replace("http://127.0.0.1:8470", server.address)
        environment = {**os.environ, "AWS_SHARED_CREDENTIALS_FILE": str(server.data / "credentials")}
        ran = subprocess.run(
            [sys.executable, "-c", example], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert ran.stdout == "SUCCEEDED  0\nACTIVATED\n", ran.stderr
        (run,) = server.glue().get_job_runs(JobName="nightly")["JobRuns"]
        assert "--day', '2026-11-15'" in server.cli("run", "logs", run["Id"]).stdout


def test_every_page_that_the_readme_names_exists() -> None:
    for page in re.findall(r"\]\(([\w./-]+)\)", (REPO / "README.md").read_text()):
        assert (REPO / page).exists(), page


def test_the_librarys_example_is_the_one_that_its_page_runs() -> None:
    """tests/library/test_docs.py runs it."""
    examples = re.findall(r"```python\n(.*?)```", (REPO / "README.md").read_text(), re.DOTALL)
    (example,) = (each for each in examples if "BackgroundScheduler" in each)
    assert f"```python\n# first.py\n{example}```" in (REPO / "docs/library.md").read_text()
