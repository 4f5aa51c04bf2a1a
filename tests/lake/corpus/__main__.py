"""Asks both engines the corpus, and writes differences.json and docs/lake-sql.md anew; reasons are kept.

With `--page` only the page is written, of the differences as they are.
"""

import sys
import tempfile
from pathlib import Path

from tests.lake.corpus import known
from tests.lake.corpus.asking import answers_of_both
from tests.lake.corpus.comparing import differences
from tests.lake.corpus.page import PAGE, page
from tests.services.components import component


def main() -> None:
    if "--page" not in sys.argv:
        ask_both()
    PAGE.write_text(page(), encoding="utf-8")


def ask_both() -> None:
    with tempfile.TemporaryDirectory(prefix="waterclock-corpus-") as folder:
        sail, spark = answers_of_both(component("engines") / "bin/python", component("java"), Path(folder))
    found = differences(sail, spark)
    known.write(found)
    print(f"{len(sail)} queries, {len(found)} answered differently")


if __name__ == "__main__":
    main()
