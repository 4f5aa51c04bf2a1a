"""docs/compatibility.md names the versions that are really tested."""

import json
import re

from tests.acceptance.server import REPO
from tests.clients.installing import PACKAGE

PAGE = (REPO / "docs/compatibility.md").read_text()
ROW = re.compile(r"^\| ([^ ,|]+(?: CLI)?)[^|]*\| (\d+\.[\d.]+) \|", re.MULTILINE)


def pinned(client: str, package: str) -> str:
    (version,) = re.findall(
        rf"^{package}==(\S+)", (REPO / f"requirements/clients-{client}.txt").read_text(), re.MULTILINE
    )
    return str(version)


def test_the_page_names_the_pinned_versions() -> None:
    modules = json.loads(PACKAGE.read_text())["dependencies"]
    provider = "apache-airflow-providers-amazon"
    assert dict(ROW.findall(PAGE)) == {
        "aws CLI": pinned("awscli", "awscli"),
        "@aws-sdk/client-glue": modules["@aws-sdk/client-glue"],
        "apache-airflow": pinned("airflow", "apache-airflow"),
        provider: pinned("airflow", provider),
    }
