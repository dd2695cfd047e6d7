"""Staged values: weights and features of the edges of a table on disk, in the order of its rows.

Not for: the edges themselves (staged_integers.py, staged_texts.py, parquet_edges.py).
"""

from __future__ import annotations

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.work_folder import Scratch
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.staging import VALUE_NAMES, staged_rows
from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
from shadow_gnn.graph.importing.formats.edge_list import EdgeList, Roles, check_values
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.importing.table import Columns, Kind


class ValueWriter:
    """Writes values batch by batch; those of an earlier process are overwritten."""

    def __init__(self, opened: EdgeList, streaming: StreamOptions) -> None:
        """Create the files for the columns."""
        self._table, self._roles, self._num_rows = opened.table, opened.roles, 0
        self._weight: DiskRows | None = None
        self._attr: DiskRows | None = None
        if self._roles.weight is not None:
            self._weight = streaming.scratch.rows(VALUE_NAMES[0], (0,), np.float32)
        if self._roles.features:
            self._attr = streaming.scratch.rows(VALUE_NAMES[1], (0, len(self._roles.features)), np.float32)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Columns to read in addition to the ids."""
        return dict.fromkeys(self._roles.values, "float")

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
        """Wait until everything is on disk."""
        for rows in (self._weight, self._attr):
            if rows is not None:
                rows.flush()


def staged_values(scratch: Scratch, roles: Roles, num_edges: int, options: ImportOptions) -> Carried:
    """Return the values of a finished ValueWriter."""
    weight = staged_rows(scratch, VALUE_NAMES[0], (num_edges,), np.float32) if roles.weight else None
    shape = (num_edges, len(roles.features))
    attr = staged_rows(scratch, VALUE_NAMES[1], shape, np.float32) if roles.features else None
    return Carried(weight, attr, options.merge, options.keep_edge_id)
