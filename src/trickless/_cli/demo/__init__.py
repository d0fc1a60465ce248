"""The demo: three learners and two references on real data."""
