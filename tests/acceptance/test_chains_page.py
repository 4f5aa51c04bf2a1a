"""The example of docs/chains.md, word by word, against `waterclock up`."""

import re
from pathlib import Path

from tests.acceptance.server import REPO, running

PAGE = (REPO / "docs" / "chains.md").read_text()


def test_the_chain_of_five_minutes_is_planned_applied_run_and_listed(tmp_path: Path) -> None:
    landed = tmp_path / "orders.csv"
    landed.write_text("1,2\n")
    with running(tmp_path) as server:
        for name, text in re.findall(r"`\.waterclock/([\w/.]+)`:\n```\w+\n(.*?)```", PAGE, re.DOTALL):
            program = server.data / name
            program.parent.mkdir(parents=True)
            program.write_text(text.replace("/srv/landing/orders.csv", str(landed)))
        (chain,) = re.findall(r"`orders\.yaml`:\n```yaml\n(.*?)```", PAGE, re.DOTALL)
        (tmp_path / "orders.yaml").write_text(chain)
        commands = re.findall(r"^\$ waterclock (.*)$", PAGE, re.MULTILINE)
        assert len(commands) == 4
        said = [server.cli(*command.split(), cwd=tmp_path) for command in commands]
        assert [each.returncode for each in said] == [0, 0, 0, 0], [each.stderr for each in said]
        plan, applied, ran, history = (each.stdout + each.stderr for each in said)
        assert all(title in plan for title in ("orders have arrived", "load EU", "load US", "report"))
        assert "1 created" in applied
        assert re.search(r"run \d+ of orders is Success", ran)
        assert "Success" in history
