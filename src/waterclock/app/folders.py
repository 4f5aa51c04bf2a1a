"""The data directory: what lies where in it."""

import os
import uuid
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """What lies where in the data directory."""

    root: Path

    @property
    def credentials(self) -> Path:
        return self.root / "credentials"

    @property
    def token(self) -> Path:
        return self.root / "token"

    @property
    def keys(self) -> Path:
        return self.root / "secret.keys"

    @property
    def servers(self) -> Path:
        """Of a worker over HTTP, which its supervisor outlives: the addresses that it was last started with."""
        return self.root / "worker.servers"

    @property
    def worker_token(self) -> Path:
        return self.root / "worker.token"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def outbox(self) -> Path:
        """Logs that are to be shipped."""
        return self.root / "outbox"

    @property
    def scripts(self) -> Path:
        return self.root / "scripts"

    @property
    def lake(self) -> Path:
        """What jobs of the lake may name, whatever else they may."""
        return self.root / "lake"

    @property
    def lake_cache(self) -> Path:
        """Clones, builds and environments: not in the folder that jobs may name, since it is not theirs to read."""
        return self.root / "lake-cache"

    @property
    def sql(self) -> Path:
        """Of the host of engines for queries."""
        return self.root / "sql"

    @property
    def audit(self) -> Path:
        return self.root / "audit"

    @property
    def supervisor(self) -> Path:
        return self.root / "supervisor"

    def host_id(self) -> str:
        """Who we are over restarts: made once."""
        path = self.root / "host-id"
        if not path.exists():
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_text(str(uuid.uuid4()))
            try:
                os.link(fresh, path)  # whoever is first names the host
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
        return path.read_text().strip()
