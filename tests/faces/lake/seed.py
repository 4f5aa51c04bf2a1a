"""The requests of the seed with their answers, read from its own text."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COPY = Path(__file__).with_name("seed_002.txt")
SHARED = Path(__file__).parents[4] / "shared" / "seeds" / "002_d788aaf04142ed02.txt"

_CALL = re.compile(
    r"^## (?P<title>.+?)\n+"
    r"- method: (?P<method>\w+)\n- url: (?P<url>\S+)\n"
    r"- request example:\s+```json\n(?P<request>.*?)```\s+"
    r"- response example:\s+```json\n(?P<answer>.*?)```",
    re.DOTALL | re.MULTILINE,
)
_OUTPUT = re.compile(r"^\+ (?P<title>\w+) output:\s+```json\n(?P<output>.*?)```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedCall:
    title: str
    method: str
    url: str
    request: Any
    answer: Any

    def path(self, job_id: int) -> str:
        return self.url.replace(":id", str(job_id))


def calls() -> list[SeedCall]:
    return [
        SeedCall(
            title=found["title"],
            method=found["method"].upper(),
            url=found["url"],
            request=json.loads(found["request"]),
            answer=json.loads(found["answer"]),
        )
        for found in _CALL.finditer(COPY.read_text())
    ]


def outputs() -> dict[str, Any]:
    return {found["title"]: json.loads(found["output"]) for found in _OUTPUT.finditer(COPY.read_text())}


def blocks() -> int:
    return COPY.read_text().count("```json")
