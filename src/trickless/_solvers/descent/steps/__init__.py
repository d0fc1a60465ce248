"""Kinds of steps of a doubly stochastic descent, one a file.

A new kind is a subclass of ``step.Step`` with its own parameters, and a case of
``options.Plan.step``, which chooses it by the ``schedule``.
"""
