"""How a download looks in the terminal: bytes, speed and time left, on stderr."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from perception.weights import OnProgress, silent

__all__ = ["fetching"]


@contextlib.contextmanager
def fetching(quiet: bool) -> Iterator[OnProgress]:
    """A bar for each download while the block fetches; where stderr is no terminal, a line each."""
    if quiet:
        yield silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True)
    tasks = {}
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bars:

        def show(label: str, received: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total or None)
                if not console.is_terminal:
                    size = f", {total / 1e6:.0f} MB" if total else ""
                    console.print(f"fetching {label}{size}", soft_wrap=True)
            bars.update(tasks[label], completed=received, total=total or None)

        yield show
