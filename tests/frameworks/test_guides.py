"""The guides that need these libraries run."""

import pytest

import guides


@pytest.mark.parametrize("page", ["from-river", "gpu", "onnx"])
def test_the_code_of_guides_runs_and_prints_what_they_say_of_frameworks(
    page, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    guides.run(guides.FOLDER / f"{page}.md", capsys)
