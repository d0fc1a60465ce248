"""What neurons are made into: networks and expansions, and estimates of what they predict."""
