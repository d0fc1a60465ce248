"""Choice of a family of neurons by the data."""
