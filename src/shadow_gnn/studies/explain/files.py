"""Files: explanations as a picture or a page, by the ending of the file's name.

Not for: the content of either (drawing.py, page.py).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shadow_gnn.base.files import write_file
from shadow_gnn.studies.explain.drawing import draw_explanations
from shadow_gnn.studies.explain.explanation import Explanation
from shadow_gnn.studies.explain.page import explanation_page
from shadow_gnn.studies.figures import rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DRAWN = 20
"""Most explanations of one picture."""


def save_explanations(explanations: Sequence[Explanation], path: str | Path) -> None:
    """Write .png or .svg with a row for each explanation, or .html with one after the other."""
    path = Path(path)
    if path.suffix == ".html":
        write_file(path, explanation_page(explanations).encode())
        return
    check_picture(path)
    if len(explanations) > MOST_DRAWN:
        raise ValueError(
            f"explain: a picture must have at most {MOST_DRAWN} targets, got {len(explanations)}; use .html"
        )
    save_figure(draw_explanations(explanations), path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as .png or .svg; the same figure gives the same bytes."""
    check_picture(path)
    if path.suffix == ".png":
        write_file(path, rendered(figure, "png"))
        return
    buffer = io.BytesIO()
    # Without a date, and with ids that do not change from call to call.
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "shadow"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    write_file(path, buffer.getvalue())


def check_picture(path: Path) -> None:
    """Raise unless a file's name says which picture it is."""
    if path.suffix not in (".png", ".svg"):
        raise ValueError(f"explain: {path.name} must end in .png, .svg or .html")
