"""Shrinking Gradient: an expansion that is learned row by row, and estimates of its values."""
