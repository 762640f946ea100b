"""The files that every page holds: its template, its style and its one script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

import jinja2

from fusion.render import clock, span_words
from reasoning.templates import templates_in
from reasoning.viewer.words import percent_words, score_words

__all__ = ["digest", "script", "style", "template"]

_HERE = Path(__file__).parent
_SCRIPTS = (
    "base",
    "player",
    "layout",
    "lanes",
    "gestures",
    "overlay",
    "cards",
    "prompts",
    "study",
    "review",
    "main",
)
"""The files of ``js/`` in the order in which they make the page's one script."""


@cache
def template() -> jinja2.Template:
    """Of the page; whatever is put into it is escaped."""
    environment = templates_in(
        _HERE, clock=clock, span=span_words, percent=percent_words, score=score_words
    )
    return environment.get_template("page.html.jinja")


@cache
def style() -> str:
    """The style sheet."""
    return _asset("page.css")


@cache
def script() -> str:
    """The script's files as one function, so that nothing of them is global but ``cuelight``."""
    parts = "".join(_asset(f"js/{name}.js") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def digest(text: str) -> str:
    """By which the page's policy knows its script: base64 of the sha256."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
