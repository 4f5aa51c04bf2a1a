"""Executors that run calls in a pool: of threads, or of processes that can be killed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waterclock.executors.base_pool import BasePoolExecutor, options_from, workers_from
from waterclock.executors.processes import Processes
from waterclock.executors.threads import ThreadOptions, Threads
from waterclock.executors.worker_process import ProcessOptions

__all__ = ["BasePoolExecutor", "ProcessPoolExecutor", "ThreadPoolExecutor"]


class ThreadPoolExecutor(BasePoolExecutor):
    """Runs calls in threads of this process: the default.

    `pool_kwargs`: thread_name_prefix, initializer, initargs. A call in a thread cannot be killed: one that is stopped
    is given up, and another thread takes its place in the pool. Plug-in name: `threadpool`.
    """

    any_thread = True

    def __init__(self, max_workers: int = 10, pool_kwargs: Mapping[str, Any] | None = None) -> None:
        self.max_workers = workers_from(max_workers)
        super().__init__(Threads(self.max_workers, options_from(ThreadOptions, pool_kwargs)))


class ProcessPoolExecutor(BasePoolExecutor):
    """Runs calls in processes, one at a time in each: a call that is stopped is killed with all that it started.

    `pool_kwargs`: mp_context (spawn by default), max_tasks_per_child, initializer, initargs. Functions, arguments and
    results are pickled on their way; a job's function is found in the worker by its import path. Plug-in name:
    `processpool`.
    """

    def __init__(self, max_workers: int = 10, pool_kwargs: Mapping[str, Any] | None = None) -> None:
        self.max_workers = workers_from(max_workers)
        super().__init__(Processes(self.max_workers, options_from(ProcessOptions, pool_kwargs)))
