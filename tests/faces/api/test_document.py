"""The example of docs/api.md, run as it is written."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.faces.api.serving import Served
from waterclock.domain.run import RunState

DOCUMENT = Path(__file__).parents[3] / "docs" / "api.md"


def example() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    return str(code)


async def test_the_example_runs(server: Served, capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(example().replace("http://127.0.0.1:8470", server.url), "api.md", "exec")
    running = asyncio.create_task(asyncio.to_thread(exec, code, {"token": server.token}))
    held = await server.hand.begin_soon()
    held.write(b"hello\n")
    await held.end(RunState.SUCCEEDED)
    await running
    assert capsys.readouterr().out == "hello\n\n"
