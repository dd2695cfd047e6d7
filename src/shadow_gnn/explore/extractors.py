"""Extractors: their kinds and options for the page, and the extractor that a request describes.

Not for: the definitions of options (extract/options.py), or scopes (scopes.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, replace
from typing import Any, Literal

from annotated_types import Ge, Gt, Le, Lt

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.explore.answers import ExtractorAnswer, ExtractorTable, OptionAnswer
from shadow_gnn.explore.requests import ExtractorBody
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.kinds import KINDS
from shadow_gnn.extract.options import Option, options_of
from shadow_gnn.recipe.extractor_table import extractor_table
from shadow_gnn.recipe.faults import checked_extractor

MOST_NODES = 2000
"""Nodes of a scope that is shown."""
MOST_EDGES = 40_000
"""Edges of a scope that is shown."""
DEFAULT = ExtractorTable(kind="ppr", options={"topk": 60})
"""Extractor of a request without a run and without one of its own."""

_TYPES: dict[type | None, Literal["int", "float", "bool", "text", "table"]] = {
    int: "int",
    float: "float",
    bool: "bool",
    str: "text",
    None: "table",
}


def extractor_answers() -> list[ExtractorAnswer]:
    """Return all kinds that a request may name, with the options that it may set."""
    return [
        ExtractorAnswer(
            kind=kind,
            doc=" ".join((owner.__doc__ or "").split("\n\n")[0].split()),
            options=[_option(option) for option in options_of(owner) if _shown(option)],
            edits=owner.follows_changes,
        )
        for kind, owner in KINDS.items()
        if not any(option.names_path and option.default is MISSING for option in options_of(owner))
    ]


def table_answer(extractor: BaseExtractor) -> ExtractorTable:
    """Return an extractor as a request would describe it."""
    table = extractor_table(extractor)
    return ExtractorTable(kind=table.pop("kind"), options=table)


def extractor_of(body: ExtractorBody | ExtractorTable, known: tuple[BaseExtractor, ...] = ()) -> BaseExtractor:
    """Return the extractor that a request describes.

    A request must not name files or folders, except those that the known extractors read already.
    """
    given = body if isinstance(body, dict) else ExtractorTable(kind=body.kind, options=body.options)
    table = {**given["options"], "kind": given["kind"]}
    allowed = {pair for extractor in known for pair in _named_paths(extractor_table(extractor))}
    for name, value in _named_paths(table):
        if (name, value) not in allowed:
            raise ValueError(f"extractor: {name} must be left out, as the page opens no files")
    try:
        return checked_extractor(table, "scope")
    except RecipeError as error:
        raise ValueError(error.faults[0]) from None


def bounded(extractor: BaseExtractor) -> BaseExtractor:
    """Return an extractor that stops soon after the most nodes that are shown; refuse one that wants more."""
    topk = getattr(extractor, "topk", 0)
    if topk > MOST_NODES:
        raise ValueError(f"scope: topk must be at most {MOST_NODES} to be shown, got {topk}")
    if getattr(extractor, "max_nodes", 0) is None:
        changes: dict[str, Any] = {"max_nodes": MOST_NODES + 1}
        return replace(extractor, **changes)
    return extractor


def check_size(num_nodes: int, num_edges: int) -> None:
    """Raise unless a scope can be shown."""
    if num_nodes > MOST_NODES:
        raise ValueError(f"scope: must have at most {MOST_NODES:,} nodes to be shown, got more; choose a smaller one")
    if num_edges > MOST_EDGES:
        raise ValueError(
            f"scope: must have at most {MOST_EDGES:,} edges to be shown, got {num_edges:,}; choose a smaller one"
        )


def _shown(option: Option) -> bool:
    return option.in_recipe and not option.names_path and option.name != "scope_edges"


def _option(option: Option) -> OptionAnswer:
    limits = {type(bound): bound for bound in option.bounds}
    low, high = limits.get(Ge) or limits.get(Gt), limits.get(Le) or limits.get(Lt)
    default = None if option.default is MISSING else option.default
    return OptionAnswer(
        name=option.name,
        type="choice" if option.choices else _TYPES[option.base],
        default=list(default) if isinstance(default, tuple) else default,
        required=option.default is MISSING,
        optional=option.optional,
        min=None if low is None else _number(low.ge if isinstance(low, Ge) else low.gt),
        max=None if high is None else _number(high.le if isinstance(high, Le) else high.lt),
        above=isinstance(low, Gt),
        below=isinstance(high, Lt),
        choices=list(option.choices),
        doc=option.text,
    )


def _number(limit: Any) -> int | float:
    return limit if isinstance(limit, int) else float(limit)


def _path_names() -> frozenset[str]:
    return frozenset(option.name for owner in KINDS.values() for option in options_of(owner) if option.names_path)


def _named_paths(value: Any) -> Iterator[tuple[str, str]]:
    """Find the keys that name files or folders, at any depth of a table."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in _path_names() and item is not None:
                yield name, str(item)
            else:
                yield from _named_paths(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named_paths(item)
