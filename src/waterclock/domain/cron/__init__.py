"""Cron in every dialect: text in, one frozen value out, searched by tables of days and times of day."""

from waterclock.domain.cron.parse import parse_cron
from waterclock.domain.cron.search import Wall

__all__ = ["Wall", "parse_cron"]
