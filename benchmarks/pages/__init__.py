"""The tables of README.md and docs/, a module a page."""
