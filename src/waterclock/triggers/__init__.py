"""Triggers of the library face, under APScheduler 3's names: thin classes over the schedules of the domain."""
