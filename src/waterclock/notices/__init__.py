"""Notices on their way out: the addresses of channels, and how something is sent there."""
