"""Functions made of neurons: networks, expansions, and estimates of their values."""
