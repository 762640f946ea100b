"""Asking the user before anything leaves the machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from perception.errors import BadInput
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from reasoning.egress import Egress

__all__ = ["agree"]


def agree(sent: Egress, yes: bool, max_cost: float | None, quiet: bool) -> None:
    """See that the user lets pictures leave the machine: tells what would, and asks where somebody
    can answer.

    Raises:
        BadInput: nobody agreed, or the estimate is over ``max_cost``, or there is none to compare
            with it.
    """
    if max_cost is not None and not (sent.cost_usd is not None and sent.cost_usd <= max_cost):
        raise BadInput(f"{sent.sentence()} --max-cost {max_cost:g} does not allow that.")
    if not quiet or not yes:
        tell(sent.sentence(), err=True)
    if not (yes or (sys.stdin.isatty() and typer.confirm("Send it?", err=True))):
        raise BadInput("Nothing was sent; agree to it first (--yes).")
