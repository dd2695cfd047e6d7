"""ShadowGNN: the whole model, from batches to logits.

Not for: extraction, training, or turning recipes into models (training/build.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch, BatchLayout
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.head import Head
from shadow_gnn.nn.node_table import NodeTable
from shadow_gnn.nn.scaling import InputScaling


class ShadowGNN(nn.Module):
    """Branches, each over the scopes of its own extractor, joined by an ensemble and read by a head.

    Random draws (dropout, DropEdge) come from torch's default generator alone.

    >>> model = sg.build_model(sg.ModelRecipe(hidden_dim=8, num_layers=2), in_dim=2, out_dim=3)
    >>> isinstance(model, sg.ShadowGNN), model(batch).shape
    (True, torch.Size([2, 3]))
    """

    def __init__(
        self,
        branches: Sequence[Branch],
        head: Head,
        ensemble: nn.Module | None = None,
        scaling: InputScaling | None = None,
        table: NodeTable | None = None,
    ) -> None:
        """Check and store; ensemble: joins the branches, None for a single one; table: learned columns."""
        super().__init__()
        if (ensemble is None) != (len(branches) == 1):
            raise ValueError(f"ShadowGNN: ensemble must be given for several branches alone, got {len(branches)}")
        for branch in branches:
            if branch.out_dim != head.in_dim:
                raise ValueError(
                    f"ShadowGNN: branches must make the {head.in_dim} columns that the head reads, got {branch.out_dim}"
                )
        self.branches = nn.ModuleList(branches)
        self.head = head
        self.ensemble = ensemble
        self.scaling = scaling
        self.table = table

    @property
    def layouts(self) -> tuple[BatchLayout, ...]:
        """The layout of each branch's batches."""
        return tuple(layout for branch in self.branches for layout in cast(Branch, branch).layouts)

    def forward(self, batches: Batch | Sequence[Batch]) -> Tensor:
        """Return the logits of the targets; batches: one of the same targets for each branch. [B, C]"""
        logits: Tensor = self.head(self.embed(batches))
        return logits

    def embed(self, batches: Batch | Sequence[Batch]) -> Tensor:
        """Return the joined embedding that the head reads. [B, H]"""
        given = (batches,) if isinstance(batches, Batch) else tuple(batches)
        if len(given) != len(self.branches):
            raise ValueError(f"ShadowGNN: batches must be {len(self.branches)}, one for each branch, got {len(given)}")
        if len({len(batch) for batch in given}) > 1:
            sizes = [len(batch) for batch in given]
            raise ValueError(f"ShadowGNN: batches must be of the same targets, got {sizes} of them")
        if self.head.linear.weight.dtype == torch.float64:
            given = tuple(batch if batch.x is None else replace(batch, x=batch.x.double()) for batch in given)
        if self.table is not None:
            given = tuple(self.table(batch) for batch in given)
        embeddings = [branch(batch, self.scaling) for branch, batch in zip(self.branches, given, strict=True)]
        if self.ensemble is None:
            return cast(Tensor, embeddings[0])
        joined: Tensor = self.ensemble(embeddings)
        return joined
