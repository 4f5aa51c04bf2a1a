"""What clients of Glue call beside Glue, on the same endpoint: who am I, which role is that, where is the log."""
