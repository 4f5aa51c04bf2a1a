"""A client of an S3 server: made once, shared by threads, with the credentials of whoever runs us.

Through botocore: environment, shared file, instance role.
"""

import threading
from collections.abc import Mapping
from typing import Any, Final

USUAL_PATIENCE: Final[Mapping[str, object]] = {
    "connect_timeout": 5,
    "read_timeout": 20,
    "retries": {"total_max_attempts": 3, "mode": "standard"},
}


class S3Connection:
    def __init__(self, *, endpoint: str, region: str, patience: Mapping[str, object] = USUAL_PATIENCE) -> None:
        self._endpoint, self._region = endpoint, region
        self._patience = patience
        self._lock = threading.Lock()
        self._client: Any = None

    def client(self) -> Any:
        """Botocore makes its methods at run time, so it has no type. To make one takes longer than all else."""
        import botocore.config
        import botocore.session

        with self._lock:
            if self._client is None:
                self._client = botocore.session.get_session().create_client(
                    "s3",
                    region_name=self._region,
                    endpoint_url=self._endpoint or None,
                    config=botocore.config.Config(**self._patience),
                )
            return self._client

    def renew(self) -> None:
        """After a failure: its credentials may be old ones."""
        self._client = None
