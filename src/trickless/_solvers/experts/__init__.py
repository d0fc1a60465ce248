"""Ensembles of machines that forget at different rates, weighted by how well they predicted."""
