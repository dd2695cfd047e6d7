"""Requests: the bodies that the page sends, as strict records.

Not for: names and ids that must exist in the graph (edits.py), or the answers (answers.py).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shadow_gnn.serve.requests import Known, NewNode, Number, Ref

MOST_EDITS = 1000
"""Edits of each kind in a request."""

RunName = Annotated[str, Field(min_length=1, max_length=1000)]
ClassRef = Annotated[int, Field(ge=0, lt=1 << 31)] | Annotated[str, Field(max_length=1000)]
"""A class by number, or by name."""
ColumnRef = ClassRef
"""A feature column by number, or by name."""
PickBy = Literal["random", "class", "wrong", "unsure", "confused", "degree", "calibration"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class ExtractorBody(_Body):
    """An extractor: its kind, and those of its options that are not at their defaults."""

    kind: Annotated[str, Field(min_length=1, max_length=100)]
    options: dict[str, Any] = {}


class EdgeEdit(_Body):
    """An edge to add; one that exists gets the new weight."""

    from_: Annotated[Ref, Field(alias="from")]
    to: Ref
    weight: Number | None = None
    """1 if it is left out in a weighted graph."""


class EndsEdit(_Body):
    """An edge to remove."""

    from_: Annotated[Ref, Field(alias="from")]
    to: Ref


class FeatureEdit(_Body):
    """A feature of a node with another value."""

    node: Known
    column: ColumnRef
    value: Number


class LabelEdit(_Body):
    """A node with another class; None for an unknown one."""

    node: Known
    class_: Annotated[ClassRef | None, Field(alias="class")] = None


class Edits(_Body):
    """Changes of the graph that only this request sees: new nodes first, then features, labels and edges."""

    new_nodes: Annotated[list[NewNode], Field(max_length=100)] = []
    """Their edges are given with them; features that are left out are 0."""
    features: Annotated[list[FeatureEdit], Field(max_length=MOST_EDITS)] = []
    labels: Annotated[list[LabelEdit], Field(max_length=MOST_EDITS)] = []
    add_edges: Annotated[list[EdgeEdit], Field(max_length=MOST_EDITS)] = []
    remove_edges: Annotated[list[EndsEdit], Field(max_length=MOST_EDITS)] = []
    remove_nodes: Annotated[list[Known], Field(max_length=MOST_EDITS)] = []
    """They lose all their edges."""


class ScopeBody(_Body):
    """The scope of a target, and the prediction of a run on it."""

    node: Ref | None = None
    """The target: an id, a name, or {"new": 0} for the first new node of the edits."""
    pair: Annotated[list[Ref], Field(min_length=2, max_length=2)] | None = None
    """Both ends, for a run that predicts links; without a run, the scope of both."""
    run: RunName | None = None
    """None for a scope alone."""
    extractor: ExtractorBody | None = None
    """None for the run's own; without a run, for the default of `about`."""
    explain: bool = False
    """Also return contributions."""
    method: Literal["gradient", "midpoint", "integrated", "occlusion", "gnnexplainer"] | None = None
    """None for the best of the model."""
    class_: Annotated[ClassRef | None, Field(alias="class")] = None
    """Class to explain; None for the predicted one."""
    edits: Edits | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    """Random seed of the scope of an extractor that draws; a run has its own."""


class PickBody(_Body):
    """Targets to look at, found by a property.

    random: any of the split. class: of the class `class`. degree: the largest first, or those of the bin `bin`.
    wrong: the most certain first. unsure: the least certain first. confused: of the class `true`, predicted as
    `predicted`. calibration: of the bin `bin`. The last four need a run, as do pairs.
    """

    by: PickBy
    run: RunName | None = None
    split: Annotated[str, Field(max_length=100)] | None = None
    """None for all nodes, without predictions."""
    class_: Annotated[ClassRef | None, Field(alias="class")] = None
    true: ClassRef | None = None
    predicted: ClassRef | None = None
    bin: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Number of the bin in the answer of /v1/explore/split."""
    offset: Annotated[int, Field(ge=0, lt=1 << 62)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 20
    seed: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    """Of random."""
