"""Fitted models as source code in other languages, which predicts without this package."""
