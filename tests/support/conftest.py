"""No test is in this folder, so nothing is collected, nor imported to look for examples."""

collect_ignore_glob = ["*.py"]
