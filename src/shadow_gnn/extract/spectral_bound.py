"""spectral_bound: an upper bound on the spectral radius of a graph, computed once per graph.

Not for: sums over walks (kinds/katz.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from shadow_gnn import _core
from shadow_gnn.extract.core_calls import naming_folder, resolve_threads, view_of
from shadow_gnn.graph.record import Graph

NUM_STEPS = 30
"""Most steps of the power method; the bound holds after any number of them."""


@dataclass(frozen=True)
class SpectralBound:
    """Quantities that bound sums over the walks of a graph."""

    radius: float
    """The largest eigenvalue, in size, of the weighted adjacency is at most this; 0 for a graph without edges."""
    max_weight: float
    """The largest weight of an edge; 1 in a graph without weights, 0 in one without edges."""


_FOUND: WeakKeyDictionary[Graph, SpectralBound] = WeakKeyDictionary()


def spectral_bound(graph: Graph, *, num_threads: int = 0) -> SpectralBound:
    """Return a bound on the spectral radius of a graph's weighted adjacency.

    For any positive x the radius is at most the largest (A x)_i / x_i (Collatz and Wielandt), which the power method
    lowers. The first call costs up to 32 passes over the edges and 8 bytes for each node.
    """
    if graph not in _FOUND:
        threads = resolve_threads(num_threads)
        with naming_folder(graph):
            _FOUND[graph] = SpectralBound(
                *_core.spectral_bound(view_of(graph), num_steps=NUM_STEPS, num_threads=threads)
            )
    return _FOUND[graph]
