"""Data frames: their columns, their categories, and models of whole tables."""
