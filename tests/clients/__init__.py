"""Clients that others wrote, against a real server, as their users run them."""
