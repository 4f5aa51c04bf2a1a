"""The rules: pure values and decisions. No IO, no clock, no asyncio, no logging."""
