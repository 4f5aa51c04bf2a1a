"""The whole product in real processes, used as its users use it."""
