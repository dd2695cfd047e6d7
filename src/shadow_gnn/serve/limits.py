"""Limits: the most that a request may ask for, so that no caller takes the service from the others.

Not for: checking values (requests.py, resolve.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of every request; each breach is a clear 4xx or 503 answer."""

    body_bytes: int = 16 << 20
    """Bytes of a request's body."""
    nodes: int = 1000
    """Targets, pairs or seeds of a request."""
    new_nodes: int = 100
    """New nodes of a prediction."""
    node_edges: int = 10_000
    """Edges of a new node."""
    update_edges: int = 100_000
    """Edges of an update."""
    update_nodes: int = 10_000
    """Nodes of an update."""
    topk: int = 10_000
    """Nodes of a retrieved scope, and candidates of a recommendation."""
    queue: int = 1024
    """Requests that wait; further ones are told to come back."""
    seconds: float = 30.0
    """Time of a request until it is given up."""
    batch: int = 256
    """Targets that the model sees at a time."""
