"""Programs as APScheduler 3.11's documentation shows them, one for each example, in our words.

Each is run by `test_documented_examples.py` in a process of its own; what it must print stands in its docstring. With
`waterclock` changed back to `apscheduler` they are programs for APScheduler 3.11, and print the same.
"""
