"""A store in this process's own memory: for jobs of the library that need not outlive it."""

from waterclock.stores.memory.database import MemoryDatabase

__all__ = ["MemoryDatabase"]
