"""How Sphinx makes a site of these pages and of the docstrings: ``make docs``."""

from importlib import metadata

project = "trickless"
release = metadata.version(project)
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
]
html_theme = "furo"
myst_heading_anchors = 4
numpydoc_show_class_members = False  # autodoc does
autodoc_typehints = "none"  # numpydoc has them
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator,ClassifierMixin,RegressorMixin,tuple",
}
# Labels of scikit-learn's pages in what its classes say, and links to files that are no pages,
# which tests/test_docs.py follows.
suppress_warnings = ["ref.ref", "myst.xref_missing"]


def is_left_out(app, what, name, obj, skip, options):
    """Leave out scikit-learn's methods that route metadata, and nothing else by ourselves."""
    return True if name.endswith("_request") or name == "get_metadata_routing" else None


def setup(app):
    """Add what Sphinx is to ask."""
    app.connect("autodoc-skip-member", is_left_out)
