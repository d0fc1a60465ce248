"""Targets: y as a matrix for solvers, and decision values as predictions."""
