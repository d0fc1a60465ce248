"""Functions made of neurons: networks and expansions, and estimates of their values."""
