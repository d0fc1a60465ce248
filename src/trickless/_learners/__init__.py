"""What users call: a paper a file, a regressor and a classifier in each."""
