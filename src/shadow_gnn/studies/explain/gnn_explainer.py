"""GNNExplainer of PyG on a model's twin: a mask over the messages, optimized for one target at a time.

Not for: many targets; saliency.py handles a batch in one pass.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.pyg_twin import PygTwin
from shadow_gnn.studies.explain.saliency import frozen
from shadow_gnn.tasks.task import Target

_MODES = {"classes": "multiclass_classification", "values": "regression"}


class TwinExplainer:
    """PyG's GNNExplainer for a normal GNN; results depend only on the target, its scope and the seed.

    >>> normal = sg.build_model(sg.ModelRecipe(hidden_dim=8, encoding="none"), in_dim=2, out_dim=2)
    >>> one = sg.collate(graph, scopes[0], model=normal)
    >>> sg.TwinExplainer(normal, "classes", num_epochs=2).edge_scores(one).shape
    torch.Size([18])
    """

    def __init__(
        self, model: ShadowGNN, target: Target, *, num_epochs: int = 100, columns: bool = False, seed: int = 0
    ) -> None:
        """Make the model's twin; num_epochs: steps of the optimizer for each target; columns: also mask them."""
        from torch_geometric.explain import Explainer, GNNExplainer

        if target not in _MODES:
            raise ValueError(f"TwinExplainer: target must be classes or values, got {target!r}; saliency takes any")
        if num_epochs < 1:
            raise ValueError(f"TwinExplainer: num_epochs must be at least 1, got {num_epochs}")
        self._model, self._columns, self._seed = model, columns, seed
        self._explainer: Any = Explainer(
            PygTwin(model),
            algorithm=GNNExplainer(epochs=num_epochs),
            explanation_type="model",
            edge_mask_type="object",
            node_mask_type="common_attributes" if columns else None,
            model_config={"mode": _MODES[target], "task_level": "node", "return_type": "raw"},
        )

    def edge_scores(self, batch: Batch) -> Tensor:
        """Return the mask of each message, from 0 to 1; batch: one target with its scope. [E]"""
        return self.masks(batch)[0]

    def masks(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Return the masks of messages [E] and of columns [F], None unless asked for; batch: of one target."""
        if len(batch) != 1 or batch.targets.shape[1] != 1:
            raise ValueError(f"TwinExplainer: batch must have one target, got {tuple(batch.targets.shape)}")
        x = batch.x
        if x is None:
            raise ValueError("TwinExplainer: batch must hold features, got none")
        if batch.num_edges == 0:
            return x.new_zeros(0), x.new_zeros(x.shape[1]) if self._columns else None
        node, row = int(batch.targets[0, 0]), int(batch.target_node[0, 0])
        extra = {} if batch.edge_weight is None else {"edge_weight": batch.edge_weight}
        with torch.random.fork_rng(devices=[]), frozen(self._model):
            torch.default_generator.manual_seed(derive_seed(f"explainer {node}", self._seed, None))
            found = self._explainer(x, batch.edge_index(), index=row, **extra)
        return found.edge_mask.detach(), found.node_mask[0].detach() if self._columns else None
