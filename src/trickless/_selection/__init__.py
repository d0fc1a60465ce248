"""Choice of a family of neurons from the data."""
