"""Tests of Waterclock, against real servers and real processes."""
