"""The library face, used as a program uses it; and APScheduler 3 beside it, which it must answer like."""
