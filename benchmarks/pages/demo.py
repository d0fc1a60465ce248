"""The table of the demo, in docs/benchmarks/index.md."""

from __future__ import annotations

from pages.common import results, where
from trickless._cli.demo.comparison import Row, table


def demo_table():
    """The table as the demo prints it."""
    result = results("trickless-demo")
    text = table([Row(*map(row.get, Row._fields)) for row in result["table"]]).strip()
    how = f"{result['repeats']} × {result['folds']} folds, in turn"
    return f"```\n{text}\n```\n\n{how}. {where(result)}."


TABLES = {"demo": demo_table}
