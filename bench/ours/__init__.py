"""Our own programs in a contest: the library in a process of its own, and the server."""
