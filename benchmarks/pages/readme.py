"""Tables of README.md."""

from __future__ import annotations

from pages.common import results, where
from trickless._demo import Row, table


def demo_table():
    result = results("trickless-demo")
    text = table([Row(**row) for row in result["table"]]).strip()
    return f"```\n{text}\n```\n\nMedians of {result['repeats']} runs in turn. {where(result)}."


TABLES = {
    "table": demo_table,
}
