"""A client of an S3 server: made once, shared by threads, with the credentials of whoever runs us.

Through botocore: environment, shared file, instance role.
"""

import threading
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

USUAL_PATIENCE: Final[Mapping[str, object]] = {
    "connect_timeout": 5,
    "read_timeout": 20,
    "retries": {"total_max_attempts": 3, "mode": "standard"},
}


class S3Connection:
    def __init__(
        self,
        *,
        endpoint: str,
        region: str,
        patience: Mapping[str, object] = USUAL_PATIENCE,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """`keys`: access_key, secret_key and session_token, where the credentials are not those of whoever runs us."""
        self._endpoint, self._region = endpoint, region
        self._patience = patience
        self._keys = keys or {}
        self._lock = threading.Lock()
        self._client: Any = None

    def client(self) -> Any:
        """Botocore makes its methods at run time, so it has no type. To make one takes longer than all else."""
        import botocore.config
        import botocore.session

        with self._lock:
            if self._client is None:
                # One session for all whose keys are given: it remembers the model of S3, which takes longest.
                session = _shared_session() if self._keys.get("access_key") else botocore.session.get_session()
                self._client = session.create_client(
                    "s3",
                    region_name=self._region,
                    endpoint_url=self._endpoint or None,
                    aws_access_key_id=self._keys.get("access_key") or None,
                    aws_secret_access_key=self._keys.get("secret_key") or None,
                    aws_session_token=self._keys.get("session_token") or None,
                    config=botocore.config.Config(**self._patience),
                )
            return self._client

    def renew(self) -> None:
        """After a failure: its credentials may be old ones."""
        self._client = None


@cache
def _shared_session() -> Any:
    import botocore.session

    return botocore.session.get_session()
