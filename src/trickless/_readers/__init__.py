"""Readers: tables in CSV, Parquet and Arrow files, and folders of them, batch by batch."""
