"""Where everything durable lives: one protocol, three databases, one suite of tests for all."""
