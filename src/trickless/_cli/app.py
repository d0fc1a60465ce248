"""All commands as one application, and how it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from trickless import __version__
from trickless._cli.demo.command import demo
from trickless._cli.describe import describe
from trickless._cli.evaluate import evaluate
from trickless._cli.exit_codes import code_of
from trickless._cli.export import export
from trickless._cli.fit import fit
from trickless._cli.predict import predict
from trickless._cli.screen import line, warnings_as_lines


class _Commands(TyperGroup):
    """Ends every command with an exit code and at most one line of error, as in ``exit_codes``."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """Run a command and end the process."""
        path, given = ["trickless"], list(sys.argv[1:] if args is None else args)

        def command() -> None:
            with warnings_as_lines(), self.make_context("trickless", given) as context:
                try:
                    self.invoke(context)
                finally:
                    path.append(context.invoked_subcommand or "")

        sys.exit(code_of(command, lambda: " ".join(path).strip()))


app = typer.Typer(
    cls=_Commands,
    name="trickless",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        line(f"trickless {__version__}")
        raise typer.Exit


@app.callback()
def trickless(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn from tables in files, and predict them, without writing Python."""


for command in (fit, predict, evaluate, describe, export, demo):
    app.command()(command)

commands = typer.main.get_command(app)
