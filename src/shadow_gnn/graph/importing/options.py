"""Options: settings of an import, the same for every format and memory budget.

Not for: reading the files that they name (attach.py, formats/).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

FeatureDtype = Literal["auto", "float32", "float16", "int8"]
LabelKind = Literal["auto", "class", "multi", "value"]
Merge = Literal["first", "sum"]
Unknown = Literal["error", "drop", "add"]
"""Treatment of a row that names an unknown node: refuse it, leave it out, or add the node."""


@dataclass(frozen=True)
class EdgeListOptions:
    """How to read an edge list; None lets the reader find out."""

    header: bool | None = None
    """Whether the first line holds column names."""
    delimiter: str | None = None
    """One character; a space stands for any run of blanks."""
    src: str | None = None
    """Column of the sending node; None takes a known name or the first column."""
    dst: str | None = None
    """Column of the receiving node; None takes a known name or the second column."""
    weight: str | None = None
    """Column of the edge weight; None takes a column called weight, if there is one."""
    edge_features: tuple[str, ...] = ()
    """Columns of edge features."""
    ids: Literal["auto", "integer", "string"] = "auto"
    """Whether ids are integers or any text; auto decides by the first row."""
    num_nodes: int | None = None
    """Number of nodes; integer ids are then kept."""


@dataclass(frozen=True)
class NodeFiles:
    """Files with one row per node, in the order of node ids; a table may have an id column instead."""

    features: Path | None = None
    """.npy matrix, SciPy .npz (kept sparse), CSV or Parquet."""
    feature_columns: tuple[str, ...] = ()
    """Columns of a table; if empty, all but the id column."""
    feature_dtype: FeatureDtype = "auto"
    """Storage of dense features; auto keeps float16 and converts all else to float32."""
    labels: Path | None = None
    """.npy, CSV or Parquet."""
    label_columns: tuple[str, ...] = ()
    """Columns of a table; if empty, all but the id column."""
    label_kind: LabelKind = "auto"
    """class (whole numbers, -1 unknown), multi (0/1 columns) or value (regression)."""
    splits: Path | None = None
    """CSV or Parquet with a column `split` of train, valid, test (or empty)."""
    train: Path | None = None
    """.npy of node ids or a mask, or text with an id per line."""
    valid: Path | None = None
    """Like train."""
    test: Path | None = None
    """Like train."""
    id_column: str | None = None
    """Id column of tables; None takes node, id or node_id if there is one."""
    split_shares: tuple[float, float, float] | None = None
    """Percentages of a random split into train, valid and test."""
    seed: int = 0
    """Random seed of that split."""
    stratify: bool = False
    """Whether each class is split by these shares."""
    unknown: Unknown = "error"
    """Treatment of a row of a node that no edge names."""


@dataclass(frozen=True)
class ImportOptions:
    """Settings of an import."""

    directed: bool = False
    """Keep the direction of edges instead of adding the other one."""
    merge: Merge = "first"
    """Weight of a repeated edge: that of the first, or the sum."""
    keep_edge_id: bool = False
    """Keep for each edge its row in the source (always done with edge features)."""
    edge_list: EdgeListOptions = field(default_factory=EdgeListOptions)
    """How to read an edge list."""
    nodes: NodeFiles = field(default_factory=NodeFiles)
    """Features, labels and splits in files of their own."""


DEFAULTS = ImportOptions()
