"""Kinds of steps of a doubly stochastic descent, one a file."""
