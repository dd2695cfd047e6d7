"""Targets: reads --targets: all nodes, a split, ids, or a file of ids.

Not for: their use; each command has its own file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shadow_gnn.graph.record import Graph


def choose_targets(command: str, graph: Graph, text: str) -> NDArray[np.int64] | int:
    """Return the ids that --targets names, or the number of nodes for all, which avoids a list of 10^8 ids."""
    import numpy as np

    from shadow_gnn.extract.core_calls import check_targets

    if text in graph.splits:
        node_id = graph.split(text)
    elif text == "all":
        return graph.num_nodes
    elif all(part.strip().isdigit() for part in text.split(",")):
        node_id = np.array([int(part) for part in text.split(",")])
    elif Path(text).is_file():
        node_id = _read_ids(Path(text))
    else:
        known = ", ".join(["all", *graph.splits])
        raise ValueError(f"{command}: --targets must be one of {known}, a file, or ids such as 3,17; got {text!r}")
    return check_targets(graph, node_id, command)[:, 0]


def read_npy(path: Path) -> NDArray[Any]:
    """Map a .npy file; a SourceError names the file and the fault."""
    from shadow_gnn.base.errors import SourceError
    from shadow_gnn.base.files import NpyError, map_npy

    try:
        return map_npy(path)
    except NpyError as error:
        raise SourceError(f"{path}: {error}") from None


def _read_ids(path: Path) -> NDArray[Any]:
    import numpy as np

    from shadow_gnn.base.errors import SourceError

    if path.suffix == ".npy":
        node_id = read_npy(path)
        if node_id.ndim != 1 or node_id.dtype.kind not in "iu":
            raise SourceError(
                f"{path}: must hold a 1-D array of integer node ids, got {node_id.ndim}-D {node_id.dtype}"
            )
        return node_id
    ids = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        if not line.strip().isdecimal():
            raise SourceError(f"{path}: line {number} must be one node id, got {line.strip()[:40]!r}")
        ids.append(int(line))
    return np.array(ids, dtype=np.int64)
