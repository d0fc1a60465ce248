"""The built site works: links, anchors and formulas, also in a browser, without other sites.

``make docs`` builds the site, and ``make test-site`` runs these tests on it.
"""

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import warnings
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PAGES = sorted(
    page for page in SITE.rglob("*.html") if not {"_modules", "_static"} & set(page.parts)
)
#: What readers open first; each is loaded in the browser.
OPENED = [
    "index.html",
    "tutorial/1_first_model.html",
    "gallery/index.html",
    "gallery/error_bars_of_a_chirp.html",
    "guides/choose-neurons.html",
    "explanation/kitchen-sinks.html",
    "reference/generated/trickless.KitchenSinksRegressor.html",
]


class Page(HTMLParser):
    """Where a page leads, what it loads, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.parts, self.anchors = [], [], {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "source", "iframe") and given.get("src"):
            self.parts.append(given["src"])
        if tag == "link" and given.get("href") and given.get("rel") != "canonical":
            self.parts.append(given["href"])


parsed = functools.cache(Page)


def test_the_site_is_built():
    assert (SITE / "index.html").exists(), "Remedy: make docs"
    assert len(PAGES) > 100


def test_links_and_anchors_lead_somewhere():
    dead = []
    for page in PAGES:
        for link in parsed(page).links:
            if re.match(r"\w+:", link):
                continue
            target, anchor = urldefrag(link)
            file = (page.parent / unquote(target)).resolve() if target else page
            file = file / "index.html" if file.is_dir() else file
            if not file.exists() or (
                anchor and file.suffix == ".html" and unquote(anchor) not in parsed(file).anchors
            ):
                dead.append(f"{page.relative_to(SITE)}: {link}")
    assert not dead, "\n".join(dead)


def test_nothing_is_loaded_from_elsewhere():
    outside = {
        f"{page.relative_to(SITE)}: {part}"
        for page in PAGES
        for part in parsed(page).parts
        if re.match(r"(?:https?:)?//", part)
    }
    assert not outside


@pytest.fixture(scope="module")
def address():
    """The site, served as readers get it."""
    handler = functools.partial(QuietHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def browse(url, tmp_path):
    """The page as a browser has it in the end, and what it wrote to its console."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [
        f"--user-data-dir={tmp_path}",
        "--enable-logging=stderr",
        "--virtual-time-budget=10000",
    ]
    done = subprocess.run(
        [*command, "--dump-dom", url], capture_output=True, text=True, timeout=120
    )
    console = re.findall(r"CONSOLE.*", done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout, console


needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here. Remedy: apt install chromium"
)


@needs_browser
@pytest.mark.parametrize("page", OPENED)
def test_pages_open_without_an_error(page, address, tmp_path):
    text, console = browse(f"{address}/{page}", tmp_path)
    assert "</html>" in text
    assert not console


@needs_browser
def test_formulas_are_drawn(address, tmp_path):
    text, _ = browse(f"{address}/explanation/kitchen-sinks.html", tmp_path)
    assert text.count("<math") > 10
    assert "katex-error" not in text


@needs_browser
def test_search_finds_a_page(address, tmp_path):
    text, _ = browse(f"{address}/search.html?q=relevance", tmp_path)
    found = re.findall(r'<a href="([^"]+)"', text[text.index('id="search-results"') :])
    assert any("choose-neurons" in page for page in found)


@needs_browser
@pytest.mark.parametrize("digit", [3, 7])
def test_a_digit_that_is_drawn_is_recognised(digit, address, tmp_path):
    text, console = browse(f"{address}/guides/draw-a-digit.html?digit={digit}", tmp_path)
    assert not console
    assert re.findall(r'<output id="digit-label">(.*?)</output>', text) == [str(digit)]
    of_set = re.findall(r'<output id="digit-set">(.*?)</output>', text)[0]
    assert str(digit) in of_set.split(" or ")
    bars = re.findall(r'<span>(\d)</span><meter value="([\d.e-]+)"', text)
    assert [int(name) for name, _ in bars] == list(range(10))
    chances = [float(chance) for _, chance in bars]
    assert sum(chances) == pytest.approx(1, abs=1e-6)
    assert chances[digit] == max(chances)


#: Predicts the ten examples of the page, and an empty drawing, in Node.js.
DIGITS = """
import { countsOf, EXAMPLES } from "./page.mjs";
import { label, labels, set } from "./digits.mjs";
console.log(JSON.stringify(Object.values(EXAMPLES).map((strokes) => label(countsOf(strokes)))));
const between = [[[0.7, 0.05], [0.3, 0.1], [0.25, 0.5], [0.6, 0.5], [0.7, 0.75], [0.5, 0.95],
  [0.3, 0.8], [0.25, 0.5]]];
const within = set(countsOf(between));
console.log(JSON.stringify(labels.filter((_, i) => within[i])));
console.log(Math.max(...countsOf([])), Math.max(...countsOf([[[0.5, 0.5]]])));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
def test_digits_as_people_draw_them_are_recognised(tmp_path):
    for name, file in (("page", "draw-a-digit"), ("digits", "digits")):
        shutil.copy(SITE / "_static" / f"{file}.js", tmp_path / f"{name}.mjs")
    (tmp_path / "run.mjs").write_text(DIGITS)
    command = ["node", "run.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found, between, dots = done.stdout.splitlines()
    assert json.loads(between) == [5, 6]
    assert json.loads(found) == list(range(10))
    assert dots == "0 3"  # of nothing, and of a dot in the middle


NOTEBOOKS = sorted(SITE.glob("_downloads/*/*.ipynb"))


def test_every_example_has_a_notebook():
    examples = {path.stem for path in (ROOT / "examples").glob("*/*.py")}
    assert {notebook.stem for notebook in NOTEBOOKS} == examples
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text())["cells"]
        assert {cell["cell_type"] for cell in cells} == {"code", "markdown"}


def test_a_notebook_runs(tmp_path):
    """``make docs`` has run the code of all of them, as scripts."""
    nbclient = pytest.importorskip("nbclient", reason="Remedy: pip install .[docs]")
    nbformat = pytest.importorskip("nbformat")
    assert not any("__file__" in notebook.read_text() for notebook in NOTEBOOKS)
    (notebook,) = (path for path in NOTEBOOKS if path.stem == "1_first_model")
    content = nbformat.read(notebook, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own parts
        nbclient.NotebookClient(
            content, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
        ).execute()


def test_pictures_of_benchmarks_are_drawn_from_their_stored_results(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "redraw.py", "--out", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    drawn = {path.name: plt.imread(path) for path in tmp_path.glob("*.png")}
    assert set(drawn) == {path.name for path in (ROOT / "benchmarks" / "results").glob("*.png")}
    assert all(picture.shape[1] >= 900 for picture in drawn.values())
