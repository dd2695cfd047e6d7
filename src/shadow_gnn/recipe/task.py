"""[task] and [link]: the predictions that a run learns to make.

Not for: the tasks themselves (tasks/).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shadow_gnn.recipe.record import Record, Share


class TaskRecipe(Record):
    """What is predicted."""

    kind: Literal["node", "link"] = "node"
    """What a target is: a node, or a pair of nodes of which it is to be told whether they are linked (see [link])."""
    target: Literal["auto", "classes", "multilabel", "values"] = "auto"
    """What a target has: one class, several yes/no labels, or a value; auto takes what the graph's labels are."""
    inductive: bool = False
    """Train on the training nodes and the edges among them alone; evaluate on the whole graph."""
    class_weights: bool = False
    """Weigh the loss of each class by its inverse frequency among the training targets; only for classes."""


class LinkRecipe(Record):
    """Which links are predicted, for task.kind = "link"."""

    split: Literal["given", "random", "time"] = "random"
    """Where the links of validation and test come from: the pairs that the graph folder holds, links drawn at random,
    or the latest links."""
    split_seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    """Random seed of the split and of its negatives; left out, that of the run."""
    valid_share: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Share of the links for validation; not for given pairs."""
    test_share: Share = 0.1
    """Share of the links for the test, 0 for no test; not for given pairs."""
    time: Literal["attr", "weight"] = "attr"
    """Where split = "time" finds the time of a link: in the first column of its features, or in its weight."""
    negatives: Literal["uniform", "degree", "given"] = "uniform"
    """Pairs without a link to learn from: all alike, ends drawn by degree, or the graph's own train_neg."""
    num_negatives: Annotated[int, Field(ge=1, le=1000)] = 1
    """Negatives drawn for each link of an epoch; not for given ones."""
    epoch_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the links, and of given negatives, that an epoch goes through."""
    hide: Literal["before", "after"] = "before"
    """When the predicted link is taken out: before its scope is chosen, or after, as the authors do, which marks links
    by what they brought into the scope."""
    use_valid_edges: bool = False
    """Let the links of validation carry messages in the test."""
