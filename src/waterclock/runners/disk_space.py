"""Room on the disk that programs work on. Without it each run that a worker takes would fail, and it would take all.

Another worker may have room; and where there is none, runs wait for it as they wait for a free slot.
"""

import logging
import os
from pathlib import Path
from typing import Final

_LOG = logging.getLogger(__name__)

LEAST_BYTES: Final = 8 * 1024 * 1024
LEAST_FILES: Final = 100


class DiskSpace:
    """Of the disk under a folder; it says in the log when room runs out, and when it is back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._was_short = False

    def is_short(self) -> bool:
        """Whether too little is left to begin anything. A disk that cannot be asked is not known to be full."""
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return False
        free_bytes = found.f_bavail * found.f_frsize
        counts_files = found.f_files > 0  # some file systems make room for files as they need it, and say 0
        is_short = free_bytes < LEAST_BYTES or (counts_files and found.f_favail < LEAST_FILES)
        if is_short and not self._was_short:
            left = f"{free_bytes // 1024} KiB and room for {found.f_favail} files"
            _LOG.error("the disk under %s is full (%s left): no run is taken until there is room", self._folder, left)
        if self._was_short and not is_short:
            _LOG.warning("there is room again under %s: runs are taken", self._folder)
        self._was_short = is_short
        return is_short
