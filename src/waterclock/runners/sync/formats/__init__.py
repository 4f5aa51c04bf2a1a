"""What the files of a sync hold: CSV, JSON lines, Parquet, Excel."""
