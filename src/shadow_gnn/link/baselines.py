"""Baselines of link prediction by name: heuristics, and an encoder with a dot product.

Not for: what one of them does (heuristics.py, encoder.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from shadow_gnn.files import Progress, silent
from shadow_gnn.link.encoder import EncoderOptions, encoder_scores
from shadow_gnn.link.heuristics import Heuristic, heuristic_scores
from shadow_gnn.link.metrics import link_metrics
from shadow_gnn.link.splits import LinkSplits

LINK_BASELINES: tuple[str, ...] = (*get_args(Heuristic), "encoder")
"""Their names, in the order in which they are run."""


@dataclass(frozen=True)
class LinkBaseline:
    """How good a baseline is."""

    name: str
    """One of LINK_BASELINES."""
    valid: dict[str, float]
    """Metrics of the links of validation."""
    test: dict[str, float] | None
    """Metrics of the links of the test; None for no test."""
    seconds: float
    """Time of everything."""


def run_link_baselines(
    splits: LinkSplits,
    names: Sequence[str] = LINK_BASELINES,
    *,
    options: EncoderOptions | None = None,
    progress: Progress = silent,
) -> Iterator[LinkBaseline]:
    """Run baselines one after the other on the pairs of valid and test; each sees the links that the split may see."""
    for name in names:
        if name not in LINK_BASELINES:
            raise ValueError(f"baselines: only must name some of {', '.join(LINK_BASELINES)} for links, got {name!r}")
    for name in (name for name in LINK_BASELINES if name in names):
        begin = time.perf_counter()
        scores = _scores(name, splits, options or EncoderOptions(), progress)
        metrics = {
            split: link_metrics(*np.split(values, [len(splits.pairs_of(split).positive)]))
            for split, values in scores.items()
        }
        yield LinkBaseline(name, metrics["valid"], metrics.get("test"), time.perf_counter() - begin)


def _scores(name: str, splits: LinkSplits, options: EncoderOptions, progress: Progress) -> dict[str, Any]:
    if name == "encoder":
        return dict(encoder_scores(splits, options, progress=progress))
    wanted = ["valid"] if splits.test is None else ["valid", "test"]
    chosen = [known for known in get_args(Heuristic) if known == name]
    return {
        split: heuristic_scores(splits.graph_of(split), splits.pairs_of(split).pairs, chosen, progress=progress)[name]
        for split in wanted
    }
