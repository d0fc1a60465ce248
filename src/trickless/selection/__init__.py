"""Choosing a family of neurons by the data."""
