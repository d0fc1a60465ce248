"""All commands as one application, and how it ends."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from trickless import __version__
from trickless.cli.demo.command import demo
from trickless.cli.describe import describe
from trickless.cli.errors import CommandError
from trickless.cli.evaluate import evaluate
from trickless.cli.fit import fit
from trickless.cli.predict import predict
from trickless.cli.screen import say, warnings_told


class _Commands(TyperGroup):
    """Ends a command with a message and exit code 2, without a traceback, if input is bad."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings_told():
                return super().invoke(ctx)
        except (typer.Exit, typer.Abort):  # they are RuntimeErrors, too
            raise
        except MemoryError as error:
            say(
                f"trickless {ctx.invoked_subcommand or ''}: memory is too small ({error}). Remedy: "
                "fewer --n-neurons."
            )
            raise typer.Exit(2) from error
        except (CommandError, ValueError, TypeError, OSError, RuntimeError) as error:
            say(f"trickless {ctx.invoked_subcommand or ''}: {error}")
            raise typer.Exit(2) from error


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
        print(f"trickless {__version__}")
        raise typer.Exit


@app.callback()
def trickless(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Kernel-quality learning without the kernel trick."""


for command in (fit, predict, evaluate, describe, demo):
    app.command()(command)
