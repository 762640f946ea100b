"""The ``cuelight`` command: one file per subcommand, thin: parse, call, print.

A command file exports ``command`` (a function with typer annotations; the first line of its
docstring is its help) or, for a group, ``commands`` (name -> such a function) and ``HELP``;
``DEFAULT`` names the one of them that is meant where none is named.

Exit codes: 0 fine, 1 partial or failed, 2 the user's mistake, 130 interrupted.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Callable
from inspect import getdoc
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from perception import plugins
from perception.errors import CuelightError, UnknownName, UserError
from reasoning.cli._ending import Ending
from reasoning.cli._terminal import forgive_encodings, tell

__all__ = ["main"]

_FOLDER = "reasoning.cli"
_FAILED, _USER_MISTAKE, _INTERRUPTED = 1, 2, 130


def _guarded(function: Callable[..., int | None]) -> Callable[..., None]:
    """``function`` with its return value as exit code and its errors as one sentence each."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        raise typer.Exit(_exit_code(functools.partial(function, *args, **kwargs)))

    return run


def _exit_code(call: Callable[[], int | None]) -> int:
    try:
        code = call() or 0
        sys.stdout.flush()
    except CuelightError as error:
        for line in (f"Error: {error}", *getattr(error, "__notes__", ())):
            tell(line, err=True)
        return _USER_MISTAKE if isinstance(error, UserError) else _FAILED
    except BrokenPipeError:
        _give_up_what_cannot_be_printed()
        return _FAILED
    except OSError as failure:
        _give_up_what_cannot_be_printed()
        tell(f"Error: {failure}", err=True)
        return _FAILED
    return code


def _give_up_what_cannot_be_printed() -> None:
    """Else Python tries once more at its end, and says so in its own words."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command(name: str) -> Any:
    module = plugins.load(_FOLDER, name.replace("-", "_"))
    app = typer.Typer(cls=_Group, rich_markup_mode="rich", add_completion=False)
    if not hasattr(module, "commands"):
        told = _reflowed(getdoc(module.command) or "")
        app.command(name, cls=_Command, help=told)(_guarded(module.command))
        return typer.main.get_command(app)
    for each, function in module.commands.items():
        told = _reflowed(getdoc(function) or "")
        app.command(each, cls=_Command, help=told)(_guarded(function))
    app.callback(help=module.HELP, no_args_is_help=True)(lambda: None)
    group: Any = typer.main.get_command(app)
    group.name, group.default = name, getattr(module, "DEFAULT", "")
    return group


def _reflowed(text: str) -> str:
    """Each paragraph as one line, for the terminal to break; indented lines stay as they are."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if "\n " in p else p.replace("\n", " ") for p in paragraphs)


class _Command(TyperCommand):
    """A subcommand that tells how to give a name which begins with a dash."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, [*args])
        except Exception as error:
            dashed = [each for each in args if each.startswith("-") and Path(each).is_file()]
            if dashed and hasattr(error, "option_name") and hasattr(error, "message"):
                error.message += f". Give the file as ./{dashed[0]}"
            raise


class _Group(TyperGroup):
    """A group; words that begin with none of its commands go to the one called ``default``."""

    default = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = [*self.commands, *ctx.help_option_names]
        if self.default and args and args[0] not in named:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class _Commands(TyperGroup):
    """Subcommands read from the folder, imported when one of them is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name.replace("_", "-") for name in plugins.names(_FOLDER)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _listed(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str, Any, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name.replace("_", "-") not in known:
            tell(f"Error: {UnknownName('command', name, known)}", err=True)
            raise typer.Exit(_USER_MISTAKE)
        return name, _command(name), args[1:]


def _listed(name: str) -> Any:
    """The command as the list of all shows it: its name and its help, read without importing it."""
    path = plugins.file(_FOLDER, name.replace("-", "_"))
    return _command(name) if path is None else TyperCommand(name, help=_help(path))


def _help(path: Path) -> str:
    """The docstring of ``command``, or ``HELP``, in the file of a command."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == "command":
            return _reflowed(ast.get_docstring(node) or "")
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HELP":
            return str(ast.literal_eval(node.value))
    return ""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"cuelight {version('cuelight')}")
        raise typer.Exit


_app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
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
    forgive_encodings()
    try:
        with Ending():
            _app(args=arguments, prog_name="cuelight")
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            tell("Interrupted; finished tracks are kept and will be reused.", err=True)
        raise
