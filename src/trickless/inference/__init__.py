"""Tests of hypotheses by neurons: that two samples do not differ, or that rows are independent."""
