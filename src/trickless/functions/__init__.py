"""What neurons are made into: streams of drawn neurons, networks, expansions, and their estimates."""
