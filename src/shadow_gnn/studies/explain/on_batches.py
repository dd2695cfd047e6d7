"""On batches: explain a model's answers for scopes that are already extracted.

Not for: opening models, or names and tables (explain.py, explanation.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import torch
from torch import Tensor

from shadow_gnn.loading.batch import Batch
from shadow_gnn.nn.branch import Branch
from shadow_gnn.nn.layers.base import Layer
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.studies.explain.answer import Answer
from shadow_gnn.studies.explain.contributions import Contributions, Method, Parts
from shadow_gnn.studies.explain.copies import single_scopes
from shadow_gnn.studies.explain.gradients import gradient_parts, integrated_parts, midpoint_parts
from shadow_gnn.studies.explain.occlusion import occlusion_parts
from shadow_gnn.studies.explain.saliency import frozen, sent_by_node
from shadow_gnn.tasks.task import LinkTask, Task

_BY_GRADIENTS = {"gradient": gradient_parts, "midpoint": midpoint_parts, "integrated": integrated_parts}


def explain_batches(
    model: ShadowGNN,
    batches: Batch | Sequence[Batch],
    task: Task,
    *,
    method: Method | None = None,
    wanted: int | None = None,
    directed: bool = False,
) -> Contributions:
    """Return the contributions of all parts of some scopes to the model's answers.

    batches: one for each branch, as the model reads them; predictor.batches(targets) makes them. method: None for the
    default of the model. wanted: the class or label to explain; None for each target's most probable one. directed:
    whether the edges of the graph have a direction; occlusion drops both directions of an edge otherwise.

    >>> found = sg.explain_batches(model, batch, sg.node_task(graph))
    >>> found.logits.shape, found.edges[0].shape
    (torch.Size([2, 2]), torch.Size([36]))
    """
    given = (batches,) if isinstance(batches, Batch) else tuple(batches)
    if any(batch.joined for batch in given):
        raise ValueError("explain: targets must have separate scopes, got a joined batch")
    chosen = default_method(model) if method is None else method
    if chosen not in get_args(Method):
        raise ValueError(f"explain: method must be one of {', '.join(get_args(Method))}, got {method!r}")
    if chosen in _BY_GRADIENTS:
        parts, logits, answer = _BY_GRADIENTS[chosen](model, given, task, wanted)
    else:
        with frozen(model), torch.no_grad():
            logits = model(given)
        answer = Answer.of(task, logits, wanted)
        if chosen == "occlusion":
            parts = occlusion_parts(model, given, answer, directed=directed)
        else:
            parts = _masked_parts(model, given, answer, logits)
    return Contributions(parts.edges, parts.nodes, parts.columns, logits, answer(logits), answer.chosen, chosen)


def default_method(model: ShadowGNN) -> Method:
    """Return midpoint, the best for its time, or occlusion for layers whose messages have no factors."""
    layers = [layer for branch in model.branches for layer in cast(Branch, branch).backbone.layers]
    without = any(cast(Layer, layer).preparation in ("edge_list", "scope") for layer in layers)
    return "occlusion" if without else "midpoint"


def _masked_parts(model: ShadowGNN, batches: Sequence[Batch], answer: Answer, logits: Tensor) -> Parts:
    """Return PyG's masks, optimized for one target after the other."""
    from shadow_gnn.studies.explain.gnn_explainer import TwinExplainer

    if isinstance(answer.task, LinkTask):
        raise ValueError("explain: method must not be gnnexplainer for links, which it does not explain")
    if answer.chosen is not None and not torch.equal(answer.chosen, logits.argmax(dim=1)):
        raise ValueError("explain: class must be the predicted one for method gnnexplainer, got another")
    explainer, (batch,) = TwinExplainer(model, answer.task.target, columns=True), batches
    edges, columns = torch.zeros(batch.num_edges, device=logits.device), list[Tensor]()
    receiver = batch.edge_index()[1]
    for number, scope in enumerate(single_scopes(batch)):
        mask, column = explainer.masks(scope)
        assert column is not None
        edges[batch.subgraph[receiver] == number] = mask.to(edges.dtype)
        columns.append(column)
    return Parts((edges,), (sent_by_node(batch, edges),), torch.stack(columns))
