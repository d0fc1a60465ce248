"""How Sphinx makes a site of these pages, the examples and the docstrings: ``make docs``."""

import os
import re
import sys
from importlib import metadata
from pathlib import Path

import matplotlib as mpl
from docutils import nodes
from sphinx.ext.autosummary import autosummary_table

ROOT = Path(__file__).parents[1]
# Examples on real data take it from where the benchmarks do.
sys.path.insert(0, str(ROOT / "benchmarks"))
# The model of a page is written here.
sys.path.insert(0, str(ROOT / "docs"))

project = "trickless"
copyright = "trickless developers"
release = metadata.version(project)
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinxcontrib.katex",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "myst_parser",
]
html_theme = "furo"
html_title = "trickless"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_domain_indices = False
smartquotes = False  # types are written as in default="auto"
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"
exclude_patterns = ["**/README.txt", "**/GALLERY_HEADER.rst"]

# KaTeX draws formulas with its own fonts, which are part of the site: no other address is asked.
# They are those of the KaTeX (0.16.22, MIT) in sphinxcontrib-katex.
katex_css_path = "katex/katex.min.css"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
# Labels of scikit-learn's pages, in what its classes say of themselves.
suppress_warnings = ["ref.ref", "config.cache"]

numpydoc_show_class_members = False  # autodoc does
autodoc_typehints = "none"  # numpydoc has them
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator,ClassifierMixin,RegressorMixin,tuple",
}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorial", "../examples/gallery"],
    "gallery_dirs": ["tutorial", "gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("trickless",),
    "reference_url": {"trickless": None},
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib",),
}
# Examples show what they compute, and no bar that moves.
os.environ["TQDM_DISABLE"] = "1"
mpl.use("agg")

#: Pages of the site that are files at the top of the project.
COPIES = {
    "project/changelog": "CHANGELOG.md",
    "project/contributing": "CONTRIBUTING.md",
    "project/security": "SECURITY.md",
    "project/code-of-conduct": "CODE_OF_CONDUCT.md",
}
SOURCE = metadata.metadata(project).get_all("Project-URL")
SOURCE = next(url.partition(", ")[2] for url in SOURCE if url.startswith("Source"))
#: Rows of tables, and what stays whole in them: code, a formula, or a number with its unit and
#: what belongs to it, as in "0.9 ± 0.1 s" or "K = 400".
ROW = re.compile(r"^\|.*$", flags=re.M)
NUMBER = r"(?:none|\d[\d.,%]*)"
WHOLE = re.compile(
    rf"`[^`]*`|\$[^$]*\$|(?:\w+ = |[<≤±] )?{NUMBER}(?: (?:±|→|of|to|for) {NUMBER})*"
    r"(?: (?:%|s|ms|µs|[kMG]i?B)(?!\w))?"
)
#: Code and titles, and where a long name may be broken: "Kitchen|Sinks|.fit(|X".
CODE = re.compile(r'(?<=<span class="pre">)[^<]+|(?<=<h1>)\w+(?=<)')
IN_A_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[/(=,])(?=[\w'\"&\[])|(?<=[^\W_][._])(?=[^\W\d])")
#: A short formula, with what stands before and after it without a space.
STOPPED = re.compile(r'\(?<span class="math[^"]*">[^<]{1,25}</span>[.,;:)]+')


def read(app, docname, source):
    """Take a page from the top of the project, and let links lead to pages of the site."""
    page = ROOT / "docs" / f"{docname}.md"
    if docname in COPIES:
        page = ROOT / COPIES[docname]
        source[0] = page.read_text()
    source[0] = ROW.sub(lambda row: WHOLE.sub(unbroken, row[0]), source[0])
    if page.exists() or docname in COPIES:
        link = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#|/)([^)#\s]+)(#[^)]*)?\)")
        source[0] = link.sub(lambda match: of_site(match, page.parent), source[0])


def unbroken(match):
    """A number that no end of a line tears from its unit. Code and formulas stay as they are."""
    return match[0] if match[0][0] in "`$" else match[0].replace(" ", "\N{NO-BREAK SPACE}")


def of_site(match, folder):
    """A link with the target that it has in the site."""
    picture, text, target, anchor = match[1], match[2], match[3], match[4] or ""
    path = (folder / target).resolve()
    pages = {(ROOT / file).resolve(): f"/{name}.md" for name, file in COPIES.items()}
    pages[ROOT / "README.md"] = "/index.md"
    if path in pages:
        return f"{text}({pages[path]}{anchor})"
    if path.parent.parent == ROOT / "examples" and path.suffix == ".py":
        return f"{text}(/{path.parent.name}/{path.stem}.rst)"
    if path.is_relative_to(ROOT / "docs"):
        return f"{picture}{text}(/{path.relative_to(ROOT / 'docs')}{anchor})"
    if picture:
        return f"{picture}{text}(/../{path.relative_to(ROOT)})"
    kind = "tree" if path.is_dir() else "blob"
    return f"{text}({SOURCE}/{kind}/main/{path.relative_to(ROOT)}{anchor})"


def is_left_out(app, what, name, obj, skip, options):
    """Leave out methods of River, those by which scikit-learn routes metadata, and nothing else."""
    of_river = (getattr(obj, "__module__", None) or "").startswith("river.")
    routes = name.endswith("_request") or name == "get_metadata_routing"
    return True if of_river or routes else None


def read_docstring(app, what, name, obj, options, lines):
    """Name scikit-learn's gallery where its docstrings link to it, and read initials as names.

    A paper that begins with "A. Rahimi" would otherwise be item A of a list.
    """
    example = re.compile(r":ref:`sphx_glr_auto_examples\w*\.py`")
    paper = re.compile(r"^(\s*\.\. \[[^\]]+\] )(?=[A-Z]\. )")
    lines[:] = [paper.sub(r"\1\\", example.sub("scikit-learn's gallery", line)) for line in lines]


def leave_out_citations(app, doctree, docname):
    """Leave the numbers of papers to the pages of classes and functions, which list the papers."""
    for table in doctree.findall(autosummary_table):
        for cited in list(table.findall(nodes.reference)):
            if re.fullmatch(r"\[R[0-9a-f]+-\d+\]", cited.astext()):
                before = cited.parent[cited.parent.index(cited) - 1]
                cited.parent.replace(before, nodes.Text(before.astext().rstrip()))
                cited.parent.remove(cited)


def let_names_break(app, pagename, templatename, context, doctree):
    """Say where browsers may break names and signatures, and keep options and full stops whole."""
    if body := context.get("body"):
        body = CODE.sub(lambda code: IN_A_NAME.sub("<wbr>", code[0]), body)
        body = body.replace('<span class="pre">-', '<span class="pre unbroken">-')
        body = STOPPED.sub(r'<span class="unbroken">\g<0></span>', body)
        opened = 'class="sig-paren">(</span>'
        context["body"] = body.replace(opened, opened + "<wbr>")


def write_digits(app, error):
    """Write the model of the page "Draw a digit" beside its script."""
    if error is None and app.builder.format == "html":
        import digits

        digits.write(Path(app.outdir) / "_static" / "digits.js")


def setup(app):
    """Add what Sphinx is to ask."""
    app.connect("build-finished", write_digits)
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("autodoc-process-docstring", read_docstring, priority=900)  # after numpydoc
    app.connect("source-read", read)
    app.connect("doctree-resolved", leave_out_citations)
    app.connect("html-page-context", let_names_break)
