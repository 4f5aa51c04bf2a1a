"""Real servers that tests start for themselves: as root or not, on loopback, gone when the tests are."""
