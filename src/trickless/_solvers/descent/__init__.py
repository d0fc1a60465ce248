"""Doubly Stochastic Gradients: steps on fresh rows and fresh neurons."""
