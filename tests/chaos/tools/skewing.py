"""Nodes whose host has a wrong clock."""

from pathlib import Path
from typing import Final

from tests.acceptance.server import REPO
from tests.chaos.cluster import Cluster
from tests.chaos.process import Process

SITE: Final = Path(__file__).parent / "skewed"


def skewed(cluster: Cluster, role: str, seconds: float) -> Process:
    """One more of a role, not yet started, whose clock is so far from the true time."""
    process = cluster.add(role)
    process.extra = {"PYTHONPATH": f"{SITE}:{REPO}", "CHAOS_SKEW": str(seconds)}
    return process
