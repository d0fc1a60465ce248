"""Solvers that need the kernel in closed form, for the baselines."""
