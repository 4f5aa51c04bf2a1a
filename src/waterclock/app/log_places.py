"""Where logs go: the store that `logs.store` names, and whether a worker's have to travel there."""

from pathlib import Path

from waterclock.app.folders import Folders
from waterclock.runners.log_store import FileLogStore, LogStore
from waterclock.runners.log_store_s3 import S3LogStore
from waterclock.settings import Settings


def log_store(settings: Settings) -> LogStore:
    location = settings.logs_store
    if location.startswith("s3://"):
        return S3LogStore(location, endpoint=settings.s3_endpoint, region=settings.s3_region)
    return FileLogStore(_folder(settings))


def logs_travel(settings: Settings) -> bool:
    """Not where a worker's own folder is the store: there they lie already."""
    own = Folders(root=settings.data_dir).logs
    return settings.logs_store.startswith("s3://") or _folder(settings).resolve() != own.resolve()


def _folder(settings: Settings) -> Path:
    return Path(settings.logs_store or Folders(root=settings.data_dir).logs).absolute()
