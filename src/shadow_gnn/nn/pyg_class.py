"""PyG's classes by name: convs for layers and aggregations for readouts, and the arguments that they need.

Not for: running them (layers/pyg.py, readouts/pyg_pool.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Literal

_BASE_CLASSES = ("MessagePassing", "Aggregation")


def pyg_class(owner: str, module: Literal["conv", "aggr"], name: str, own: Iterable[str] = ()) -> Any:
    """Return the class of that name in torch_geometric.nn.<module>, or raise with the nearest known name.

    own: names that the owner accepts as well, for the message.
    """
    from torch_geometric import nn

    namespace, own = getattr(nn, module), list(own)
    known = [item for item in namespace.__all__ if item not in _BASE_CLASSES]
    if name in known:
        return getattr(namespace, name)
    short = name.lower().removeprefix("graph")  # GraphSAGE is sage here.
    near = [short] if short in own else get_close_matches(name, [*own, *known], 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    ours = f"{', '.join(own)} or " if own else ""
    raise ValueError(f"{owner} must be {ours}a class of torch_geometric.nn.{module}, got {name!r}{hint}")


def required_parameters(made: Any) -> list[str]:
    """Return the names of a class's constructor parameters that have no default."""
    return [
        item.name
        for item in list(inspect.signature(made.__init__).parameters.values())[1:]
        if item.default is item.empty and item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)
    ]
