"""[task] and [link]: the predictions of a run.

Not for: the tasks themselves (tasks/).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shadow_gnn.recipe.record import Record, Share


class TaskRecipe(Record):
    """Kind of prediction.

    >>> sg.TaskRecipe(kind="link").kind
    'link'
    """

    kind: Literal["node", "link"] = "node"
    """Kind of target: a node, or a node pair for link prediction (see [link])."""
    target: Literal["auto", "classes", "multilabel", "values"] = "auto"
    """Kind of label: one class, several yes/no labels, or a value; auto follows the graph's labels."""
    inductive: bool = False
    """Train only on the training nodes and the edges among them; evaluate on the whole graph."""
    class_weights: bool = False
    """Weight the loss of each class by its inverse frequency among the training targets; of several labels, weight the
    targets that have a rare one."""
    label_thresholds: bool = True
    """Predict each label above a threshold of its own, chosen on the validation targets for the best micro_f1; false:
    above a probability of 0.5."""


class LinkRecipe(Record):
    """Links to predict, for task.kind = "link".

    >>> sg.LinkRecipe(valid_share=0.1, test_share=0.2).hide
    'before'
    """

    split: Literal["given", "random", "time"] = "random"
    """Links of validation and test: the pairs in the graph folder, links drawn at random, or the latest links."""
    split_seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    """Random seed of the split and of its negatives; left out, that of the run."""
    valid_share: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Share of the links for validation; not for given pairs."""
    test_share: Share = 0.1
    """Share of the links for the test, 0 for no test; not for given pairs."""
    time: Literal["attr", "weight"] = "attr"
    """Time of a link, for split = "time": the first column of its features, or its weight."""
    negatives: Literal["uniform", "degree", "given"] = "uniform"
    """Unlinked pairs to train on: drawn uniformly, with ends drawn by degree, or the graph's own train_neg."""
    num_negatives: Annotated[int, Field(ge=1, le=1000)] = 1
    """Negatives drawn for each link of an epoch; not for given ones."""
    epoch_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the links, and of given negatives, in each epoch."""
    hide: Literal["before", "after"] = "before"
    """Hide the predicted link before its scope is chosen, or after, as the authors do; after can reveal the link."""
    use_valid_edges: bool = False
    """Let the links of validation carry messages in the test."""
