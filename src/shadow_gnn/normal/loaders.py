"""Loaders of normal GNNs and of joint batches, by the training method of a recipe.

Not for: scopes (training/run_setup.py), or exact inference (whole.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.protocol import Extractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import BatchSource
from shadow_gnn.nn.model import ShadowGNN
from shadow_gnn.normal import (
    EdgeSampler,
    FrontierSampler,
    FullLoader,
    JointLoader,
    NeighborLoader,
    NodeSampler,
    SaintLoader,
    Sampler,
    WalkSampler,
)
from shadow_gnn.normal.inputs.columns import Inputs
from shadow_gnn.normal.inputs.label_parts import label_parts
from shadow_gnn.normal.layerwise import single_branch
from shadow_gnn.recipe import JointRecipe, Recipe, SaintRecipe

Ints = NDArray[np.int64]


def normal_loader(
    recipe: Recipe, graph: Graph, targets: Ints, model: ShadowGNN, inputs: Inputs | None = None
) -> BatchSource:
    """Return the loader of a recipe's method; graph: the one to train on, targets [T]."""
    backbone = single_branch(model).backbone
    edge_arrays = backbone.edge_arrays
    num_layers = len(backbone.layers)
    if recipe.training.method == "full":
        num_hops = num_layers if backbone.trims else None
        whole = FullLoader(graph, targets, num_hops, edge_arrays=edge_arrays, inputs=inputs)
        return whole if inputs is None or inputs.labels is None else ShownLabelsLoader(whole, inputs, recipe)
    if recipe.training.method == "saint":
        sampler, num_steps = make_sampler(recipe.saint), recipe.saint.num_steps
        return SaintLoader(
            graph, targets, sampler, num_steps=num_steps, seed=recipe.seed, edge_arrays=edge_arrays, inputs=inputs
        )
    fanouts = recipe.neighbor.fanouts
    return NeighborLoader(
        graph,
        targets,
        fanouts * num_layers if len(fanouts) == 1 else fanouts,
        batch_size=recipe.training.batch_size,
        shuffle=True,
        seed=recipe.seed,
        edge_arrays=edge_arrays,
        inputs=inputs,
    )


def joint_loader(
    joint: JointRecipe,
    graph: Graph,
    extractor: Extractor,
    targets: Ints,
    model: ShadowGNN,
    *,
    batch_size: int,
    seed: int,
    inputs: Inputs | None = None,
    shuffle: bool = False,
    max_bytes: int = 0,
) -> JointLoader:
    """Return the loader of joint batches; shuffle: for training, else in the order of the targets [T]."""
    return JointLoader(
        graph,
        extractor,
        targets,
        batch_size=batch_size,
        block_size=joint.block_size,
        max_nodes=joint.max_nodes,
        shuffle=shuffle,
        seed=seed,
        edge_arrays=single_branch(model).backbone.edge_arrays,
        inputs=inputs,
        max_bytes=max_bytes,
    )


def make_sampler(recipe: SaintRecipe) -> Sampler:
    """Return the sampler of a [saint] table."""
    if recipe.sampler == "node":
        return NodeSampler(recipe.num_nodes)
    if recipe.sampler == "edge":
        return EdgeSampler(recipe.num_edges)
    if recipe.sampler == "rw":
        return WalkSampler(recipe.num_walks, recipe.walk_length)
    return FrontierSampler(recipe.num_nodes, recipe.frontier)


class ShownLabelsLoader:
    """Full batches in which some of the training nodes show their labels and the others are the targets.

    They are drawn in every epoch, because a label cannot be input and target in the same pass.
    """

    shuffle = True

    def __init__(self, whole: FullLoader, inputs: Inputs, recipe: Recipe) -> None:
        """Store; whole: all training nodes as targets."""
        self.graph, self.targets = whole.graph, whole.targets
        self._whole, self._inputs = whole, inputs
        self._label_share, self._seed = recipe.inputs.label_share, recipe.seed

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return 1

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over the one batch of an epoch."""
        parts = label_parts(self.targets[:, 0], self._label_share, seed=self._seed, epoch=number)
        shown = self._inputs.showing(parts.shown)
        part = FullLoader(
            self.graph, parts.targets, self._whole.num_hops, edge_arrays=self._whole.edge_arrays, inputs=shown
        )
        yield from part.epoch(0)
