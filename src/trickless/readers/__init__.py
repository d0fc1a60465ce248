"""Readers: CSV, Parquet and Arrow files, and folders of them, as batches of one schema."""
