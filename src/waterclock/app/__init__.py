"""The composition root: the concrete classes chosen and put together, and the processes that run them."""
