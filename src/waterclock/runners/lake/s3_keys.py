"""The worker's own keys for S3, for queries that read tables and write results there."""

import threading
from typing import Any

from waterclock.domain.errors import CannotRun


class WorkerS3Keys:
    """As botocore finds them: environment, shared file, instance role."""

    def __init__(self, *, endpoint: str, region: str) -> None:
        self._known = {"endpoint": endpoint, "region": region}
        self._lock = threading.Lock()
        self._session: Any = None  # botocore has no types; it renews what runs out by itself

    def given(self) -> dict[str, str]:
        """Without keys where there are none: a server that wants none is asked without."""
        import botocore.exceptions
        import botocore.session

        with self._lock:
            self._session = self._session or botocore.session.get_session()
            try:
                found = self._session.get_credentials()
                keys = found.get_frozen_credentials() if found else None
            except botocore.exceptions.BotoCoreError as problem:
                raise CannotRun(f"cannot find this worker's keys for S3: {problem}") from None
        if keys is None:
            return dict(self._known)
        named = {"access_key": keys.access_key, "secret_key": keys.secret_key, "session_token": keys.token or ""}
        return {**self._known, **named}
