"""Asking the user before anything leaves the machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from perception.errors import BadInput
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from reasoning.egress import Egress

__all__ = ["agreed"]


def agreed(sent: Egress, yes: bool, max_cost: float | None, quiet: bool) -> bool:
    """Whether the user lets pictures leave the machine; asks where somebody can answer.

    Raises:
        BadInput: the estimate is over ``max_cost``, or there is none to compare with it.
    """
    if max_cost is not None and not (sent.cost_usd is not None and sent.cost_usd <= max_cost):
        raise BadInput(f"{sent.sentence()} --max-cost {max_cost:g} does not allow that.")
    if not quiet or not yes:
        tell(sent.sentence(), err=True)
    return yes or (sys.stdin.isatty() and typer.confirm("Send it?", err=True))
