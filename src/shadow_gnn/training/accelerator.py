"""Accelerator: whether this machine has the accelerator of a recipe, asked before anything is written.

Not for: moving the model there (loop.py).
"""

from __future__ import annotations

import torch


def check_accelerator(name: str) -> None:
    """Raise if a named accelerator is not available; auto and cpu always are."""
    missing = {"cuda": not torch.cuda.is_available(), "mps": not torch.backends.mps.is_available()}
    if missing.get(name, False):
        what = "must be one of this machine"
        raise ValueError(f'training: accelerator {what}, got "{name}"; auto takes the best of them')
