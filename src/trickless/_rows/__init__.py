"""Rows: from data as given to validated numbers, targets and weights."""
