"""Drawings as SVG that take their colours from the page they stand in.

matplotlib draws with placeholder colours; each becomes a CSS variable of ``page.css``, so that one
drawing serves a light page, a dark one and print.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from fusion.quoting import visible
from perception.errors import MissingExtra

__all__ = ["bars", "heatmap", "histogram", "intervals", "scatter", "stacked", "trade_off"]

_INK, _MUTED, _LINE, _PAPER = "#010203", "#020304", "#030405", "#040506"
_SERIES = ("#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04", "#0a0b05", "#0a0b06")
_VARIABLES = {_INK: "ink", _MUTED: "muted", _LINE: "line", _PAPER: "surface"}
_VARIABLES |= {colour: f"series-{at}" for at, colour in enumerate(_SERIES, start=1)}

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cuelight",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _MUTED,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "ytick.labelcolor": _INK,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "legend.frameon": False,
    "axes.titlesize": 9,
}

_ROW_INCHES = 0.27
_WIDTH_INCHES = 7.4
_MOST_CHARS = 46


@contextlib.contextmanager
def _drawing(height: float, width: float = _WIDTH_INCHES) -> Iterator[tuple[Any, Any, list[str]]]:
    """A figure, its axes, and a list that holds the SVG when the block has ended."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "studies", "A report's plots") from None
    made: list[str] = []
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        warnings.filterwarnings("ignore", message="(Tight|constrained_)layout")
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.add_subplot(), made
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        made.append(_embedded(file.getvalue()))


def _embedded(svg: str) -> str:
    """The element alone, its ids its own, its colours the page's, as wide as it finds room."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    prefix = "p" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px; font-family: inherit", svg)
    width = re.search(r'<svg[^>]*? width="([\d.]+)pt"', svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]+"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]+"', r"\1", svg, count=1)
    limit = f"max-width: {float(width[1]) * 4 / 3:.0f}px" if width else ""
    return svg.replace("<svg", f'<svg style="width: 100%; {limit}" aria-hidden="true"', 1).strip()


def _short(label: str) -> str:
    words = visible(label).replace("\n", " ")
    return words if len(words) <= _MOST_CHARS else f"{words[: _MOST_CHARS - 1]}…"


def _rows(axes: Any, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_short(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def intervals(
    given: Sequence[tuple[str, float, float, float]], axis: str, *, zero: bool = False
) -> str:
    """Points with intervals, one a line.

    Args:
        given: label, value, low and high.
        axis: words below.
        zero: draw a line at zero.
    """
    with _drawing(0.75 + _ROW_INCHES * len(given)) as (_, axes, made):
        _rows(axes, [label for label, *_ in given])
        if zero:
            axes.axvline(0, color=_MUTED, linewidth=1)
        for at, (_, value, low, high) in enumerate(given):
            axes.plot([low, high], [at, at], color=_SERIES[0], linewidth=2, solid_capstyle="butt")
            axes.plot([value], [at], "o", color=_SERIES[0], markersize=5)
        axes.set_xlabel(axis)
    return made[0]


def bars(given: Sequence[tuple[str, float]], axis: str) -> str:
    """One bar a line, its value behind it."""
    with _drawing(0.75 + _ROW_INCHES * len(given)) as (_, axes, made):
        _rows(axes, [label for label, _ in given])
        drawn = axes.barh(range(len(given)), [value for _, value in given], 0.66, color=_SERIES[0])
        axes.bar_label(drawn, fmt="%g", padding=3, color=_MUTED)
        axes.set_xlabel(axis)
    return made[0]


def histogram(values: Sequence[int], axis: str, counted: str) -> str:
    """How often each whole number occurs."""
    with _drawing(2.4) as (_, axes, made):
        numbers = range(min(values), max(values) + 1)
        axes.bar(list(numbers), [values.count(each) for each in numbers], 0.8, color=_SERIES[0])
        axes.set_xlabel(axis)
        axes.set_ylabel(counted)
        axes.grid(axis="y")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.get_major_locator().set_params(integer=True)
    return made[0]


def stacked(labels: Sequence[str], parts: Sequence[tuple[str, Sequence[float]]], axis: str) -> str:
    """One bar a line, cut into parts."""
    with _drawing(1.1 + _ROW_INCHES * len(labels)) as (figure, axes, made):
        _rows(axes, labels)
        left = [0.0] * len(labels)
        for at, (name, values) in enumerate(parts):
            colour = _SERIES[at % len(_SERIES)]
            places = range(len(labels))
            axes.barh(
                places, values, 0.66, left, color=colour, edgecolor=_PAPER, label=_short(name)
            )
            left = [start + value for start, value in zip(left, values, strict=True)]
        axes.set_xlabel(axis)
        figure.legend(loc="outside upper left", ncols=4, fontsize=8)
    return made[0]


def heatmap(names: Sequence[str], values: Sequence[Sequence[float | None]]) -> str:
    """Correlations from -1 to 1, each written in its square."""
    side = 0.9 + 0.48 * len(names)
    with _drawing(side * 0.86, side) as (_, axes, made):
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                colour = _SERIES[0] if (value or 0) >= 0 else _SERIES[1]
                strength = abs(value or 0.0) * 0.75
                axes.add_patch(_square(x, y, colour, strength))
                words = "–" if value is None else f"{value:.2f}".replace("-", "−")
                axes.text(x, y, words, ha="center", va="center", fontsize=8, color=_INK)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        ticks = [_short(each)[:12] for each in names]
        axes.set_xticks(range(len(names)), ticks, rotation=0 if max(map(len, ticks)) < 5 else 45)
        axes.set_yticks(range(len(names)), ticks)
        axes.tick_params(length=0, labelcolor=_INK)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return made[0]


def _square(x: float, y: float, colour: str, strength: float) -> Any:
    from matplotlib.patches import Rectangle

    place = (x - 0.48, y - 0.48)
    return Rectangle(place, 0.96, 0.96, facecolor=colour, alpha=max(strength, 0.04), linewidth=0)


def trade_off(
    points: Sequence[tuple[str, float, float, tuple[float, float], tuple[float, float]]],
    best: Sequence[str],
) -> str:
    """Grounding gain against reasoning gain, in percentage points.

    Args:
        points: label, grounding, reasoning, and the interval of each.
        best: labels of the frontier, joined in this order.
    """
    with _drawing(4.4) as (_, axes, made):
        axes.axhline(0, color=_MUTED, linewidth=1)
        axes.axvline(0, color=_MUTED, linewidth=1)
        place = {label: (x, y) for label, x, y, *_ in points}
        line = [place[label] for label in best]
        if len(line) > 1:
            axes.plot(*zip(*line, strict=True), color=_SERIES[1], linewidth=1.6, zorder=2)
        for number, (label, x, y, across, along) in enumerate(points, start=1):
            colour = _SERIES[1] if label in best else _SERIES[0]
            axes.plot(across, (y, y), color=colour, linewidth=0.9, alpha=0.55)
            axes.plot((x, x), along, color=colour, linewidth=0.9, alpha=0.55)
            axes.plot([x], [y], "o", color=colour, markersize=7, zorder=3)
            axes.annotate(
                str(number), (x, y), (6, 6), textcoords="offset points", color=_INK, zorder=4
            )
        axes.set_xlabel("Grounding, gained in percentage points")
        axes.set_ylabel("Reasoning, gained in percentage points")
        axes.grid()
    return made[0]


def scatter(points: Sequence[tuple[str, float, float]], across: str, along: str) -> str:
    """Points with their labels."""
    with _drawing(4.0) as (_, axes, made):
        axes.plot([x for _, x, _ in points], [y for *_, y in points], "o", color=_SERIES[0])
        for label, x, y in points:
            axes.annotate(_short(label), (x, y), (6, 5), textcoords="offset points", color=_INK)
        axes.margins(0.15)
        axes.set_xlabel(across)
        axes.set_ylabel(along)
        axes.grid()
    return made[0]
