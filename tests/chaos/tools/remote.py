"""A worker over HTTP, without the database: its token, and its process."""

import os
from collections.abc import Sequence

from tests.chaos.cluster import Cluster
from tests.chaos.process import Process


def remote_worker(c: Cluster, address: str, *, prefix: Sequence[str] = ()) -> Process:
    """One more of the cluster's workers, not yet started; `prefix` puts it into a namespace of its own."""
    worker = c.add("worker")
    del worker.settings["db"]
    token = worker.folder.with_suffix(".token")
    token.write_text(_token(c))
    token.chmod(0o600)
    worker.arguments = ("--server", address, "--token-file", str(token))
    worker.prefix = tuple(prefix)
    return worker


def _token(c: Cluster) -> str:
    """Of a user who may work, and nothing else."""
    name = f"carrier-{os.urandom(4).hex()}"
    c.api.post("/users", json={"name": name, "role": "worker"}).raise_for_status()
    told = c.api.post(f"/users/{name}/tokens", json={"name": "chaos"}).raise_for_status()
    return str(told.json()["token"])
