"""Stacks: learners of several kinds, whose predictions are added with weights."""
