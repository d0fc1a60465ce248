"""Tests of hypotheses by neurons: of equal distributions, and of independence."""
