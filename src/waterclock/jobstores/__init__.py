"""Where jobs are kept: in memory, or in a SQL database that several programs may share."""
