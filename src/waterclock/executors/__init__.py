"""Executors of the library face, under APScheduler 3's names: where the calls of jobs run."""
