"""Choices: the extractors of a curve, each in several sizes.

Not for: the curve (curve.py), or the options that set a size (studies/compare_extractors/sized.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from shadow_gnn.extract import BaseExtractor
from shadow_gnn.recipe.extractor_table import read_extractor
from shadow_gnn.studies.compare_extractors.candidates import read_candidates

DEFAULT_SIZES = (50, 100, 200, 400)
"""Sizes of scopes."""
DEFAULT_EXTRACTORS = ("ppr", '{kind = "ppr", teleport = 0.5}', "heat")
"""Kinds of scopes, as on the command line."""


def curve_extractors(texts: Sequence[str], sizes: Sequence[int]) -> dict[str, list[BaseExtractor]]:
    """Return extractors of all sizes by name; texts: kinds, comma-separated, or TOML tables, without a size.

    A table that sets its size itself, or a kind without one, is a single point.
    """
    found: dict[str, list[BaseExtractor]] = {}
    for size in sizes:
        for candidate in read_candidates(texts, size, owner="scope-curve"):
            extractor = read_extractor(candidate.settings)
            if extractor not in found.setdefault(candidate.name, []):
                found[candidate.name].append(extractor)
    return found
