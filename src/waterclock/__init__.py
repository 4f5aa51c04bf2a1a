"""Waterclock: a self-hosted scheduler and runner for data-lake jobs."""

__version__ = "0.1.0"
