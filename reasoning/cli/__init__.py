"""The ``cuelight`` command: one file per subcommand, thin: parse, call, print.

A command file exports ``command`` (a function with typer annotations; the first line of its
docstring is its help) or, for a group, ``commands`` (name -> such a function) and ``HELP``.

Exit codes: 0 fine, 1 partial or failed, 2 the user's mistake, 130 interrupted.
"""

from __future__ import annotations

import os
import sys

import click
import typer
from typer.core import TyperGroup

from perception import plugins
from perception.errors import CuelightError, UserError

__all__ = ["main"]

_FOLDER = "reasoning.cli"


def _command(name: str) -> click.Command:
    module = plugins.load(_FOLDER, name)
    app = typer.Typer(rich_markup_mode="rich", add_completion=False)
    if not hasattr(module, "commands"):
        app.command(name)(module.command)
        return typer.main.get_command(app)
    for each, function in module.commands.items():
        app.command(each)(function)
    app.callback(help=module.HELP, no_args_is_help=True)(lambda: None)
    group = typer.main.get_command(app)
    group.name = name
    return group


class _Commands(TyperGroup):
    """Subcommands read from the folder, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return plugins.names(_FOLDER)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(cmd_name) if cmd_name in self.list_commands(ctx) else None


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"cuelight {version('cuelight')}")
        raise typer.Exit


_app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Turn a video into timestamped perception cues and ground a VideoLLM with them.",
)


@_app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    del version


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the command; ends the process with an exit code."""
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        result = _app(args=arguments, prog_name="cuelight", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as help:
        help.show()
        return 2
    except click.ClickException as mistake:
        mistake.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        _say("Interrupted; finished tracks are kept and will be reused.")
        return 130
    except UserError as mistake:
        _say(f"Error: {mistake}")
        return 2
    except CuelightError as failure:
        _say(f"Error: {failure}")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201
