"""Checks of user input that several folders share."""
