"""Members: a trained model as a member of an average.

Not for: the average itself (averaging.py).
"""

from __future__ import annotations

import numpy as np

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.inference.averaging import Member
from shadow_gnn.inference.predictions import Floats, Ints
from shadow_gnn.inference.predictor import Predictor


def run_member(name: str, predictor: Predictor, progress: Progress = silent) -> Member:
    """Return an opened model as a member."""
    config, task = predictor.trained.config, predictor.trained.node_task

    def report(stage: str, done: int, total: int) -> None:
        progress(f"{stage} with {name}", done, total)

    def predict(targets: Ints) -> Floats:
        return np.concatenate([block.scores for block in predictor.blocks(targets, progress=report)])

    return Member(
        name,
        task.target,
        config.out_dim,
        predict,
        fingerprint=predictor.graph.fingerprint,
        graph=predictor.graph,
        class_names=config.class_names,
    )
