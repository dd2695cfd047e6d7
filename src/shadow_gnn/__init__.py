"""shadow_gnn: graph neural networks whose depth does not widen their scope.

Not for: effects at import. Names load their modules when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shadow_gnn import extract as extract
    from shadow_gnn.batch import Batch as Batch
    from shadow_gnn.graph import Graph as Graph
    from shadow_gnn.loader import Loader as Loader
    from shadow_gnn.store import open_graph as open_graph
    from shadow_gnn.store import save_graph as save_graph

__version__ = "0.1.0"

_HOME = {
    "Batch": "shadow_gnn.batch",
    "Graph": "shadow_gnn.graph",
    "Loader": "shadow_gnn.loader",
    "open_graph": "shadow_gnn.store",
    "save_graph": "shadow_gnn.store",
}

__all__ = ["Batch", "Graph", "Loader", "__version__", "extract", "open_graph", "save_graph"]


def __getattr__(name: str) -> Any:
    if name == "extract":
        return import_module("shadow_gnn.extract")
    if name not in _HOME:
        raise AttributeError(f"module 'shadow_gnn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
