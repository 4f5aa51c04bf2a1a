"""`waterclock import schedulerdb`: chains from the scheduler that had them in MySQL. See docs/import-schedulerdb.md."""
