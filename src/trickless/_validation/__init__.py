"""Checks of user input, and their wording; a file for each kind of thing that is checked.

Each message names the parameter, the value, the cause and the remedy.
"""
