"""Staged values: weights and features of the edges of a table on a disk, in the order of its rows.

Not for: the edges themselves (staged_integers.py, staged_texts.py, parquet_edges.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.staging import VALUE_NAMES, StagedRows, Staging
from shadow_gnn.graph.importing.build import Merge
from shadow_gnn.graph.importing.formats.edge_list import Roles, check_values
from shadow_gnn.graph.importing.table import Columns, Kind

Array = NDArray[Any]


class ValueWriter:
    """Takes the values of some rows after the other; what an earlier process wrote is overwritten."""

    def __init__(self, staging: Staging) -> None:
        """Make the files that the columns need."""
        self._table, self._roles, self._num_rows = staging.table, staging.roles, 0
        self._weight: DiskRows | None = None
        self._attr: DiskRows | None = None
        if self._roles.weight is not None:
            self._weight = staging.scratch.rows(VALUE_NAMES[0], (0,), np.float32)
        if self._roles.features:
            self._attr = staging.scratch.rows(VALUE_NAMES[1], (0, len(self._roles.features)), np.float32)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Columns to be read besides the ids."""
        return dict.fromkeys(value_columns(self._roles), "float")

    def append(self, batch: Columns) -> None:
        """Check and write the values of the next rows."""
        roles = self._roles
        weight = None if roles.weight is None else batch[roles.weight].to_numpy()
        attr = np.column_stack([batch[name].to_numpy() for name in roles.features]) if roles.features else None
        check_values(self._table, roles, weight, attr, self._num_rows)
        for rows, part in ((self._weight, weight), (self._attr, attr)):
            if rows is not None and part is not None:
                rows.append(part)
        self._num_rows += len(batch[roles.src])

    def flush(self) -> None:
        """Wait until everything is on the disk."""
        for rows in (self._weight, self._attr):
            if rows is not None:
                rows.flush()


def value_columns(roles: Roles) -> tuple[str, ...]:
    """Return the columns of an edge list that hold values."""
    return (*roles.features, *((roles.weight,) if roles.weight else ()))


def staged_values(scratch: Scratch, roles: Roles, num_edges: int, merge: Merge, keep_edge_id: bool) -> Carried:
    """Return what a ValueWriter has put on the disk as what edges carry."""
    weight = StagedRows(scratch, VALUE_NAMES[0], (num_edges,), np.float32) if roles.weight else None
    shape = (num_edges, len(roles.features))
    attr = StagedRows(scratch, VALUE_NAMES[1], shape, np.float32) if roles.features else None
    return Carried(weight, attr, merge, keep_edge_id)
