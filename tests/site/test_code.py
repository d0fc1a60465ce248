"""The code of guides and explanations runs, and prints what the pages say."""

from pathlib import Path

import pytest

import guides

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [*sorted(DOCS.glob("guides/*.md")), *sorted(DOCS.glob("explanation/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    if page.stem in guides.ELSEWHERE:
        pytest.skip("tests/frameworks and tests/dask run it")
    monkeypatch.chdir(tmp_path)
    guides.run(page, capsys)
