"""Intake: from data as given to validated rows, targets and weights."""
