"""BaseExtractor: the shared part of all kinds; a kind adds its options and one method.

Dataclass fields can only be shared by inheritance. Not for: choosing nodes (kinds/), or type hints (protocol.py).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.errors import FolderError, ShadowError
from shadow_gnn.extract.core_calls import check_pairs, check_targets
from shadow_gnn.extract.options import NamesPath, NotInRecipe, check_options, options_of
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.extract.scope_graph import check_scope_graph, on_graph
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.datasets.resolve import open_any_graph
from shadow_gnn.graph.record import Graph

OtherGraph = Annotated[Graph | str | Path | None, NamesPath()]
"""A graph or its folder, which is opened when it is first needed."""


@dataclass(frozen=True, kw_only=True)
class BaseExtractor(ABC):
    """Shared options and their checks, the key, and scopes chosen in another graph.

    A kind is a frozen dataclass with a `kind` and a method `choose`. Its options are its fields: type and bounds are in
    the annotation, the explanation is the docstring under the field.

    >>> issubclass(extract.PprExtractor, extract.BaseExtractor)
    True
    >>> extract.PprExtractor(topk=6).key == extract.PprExtractor(topk=6).key
    True
    """

    kind: ClassVar[str]
    """Name in recipes and on the command line."""
    version: ClassVar[int] = 1
    """Version of the algorithm; a change means other scopes for the same options."""
    follows_changes: ClassVar[bool] = False
    """True if scopes depend only on the neighbor lists that are read around the target."""

    scope_graph: OtherGraph = None
    """Folder of another graph on the same nodes, for example from `shadow data diffuse`, to choose and score nodes in;
    left out, the graph itself."""
    scope_edges: Literal["graph", "scope_graph"] = "graph"
    """Edges of a scope: those of the graph, without nodes that they do not connect to the target, or those of
    scope_graph with its weights."""
    edge_pos: Annotated[bool, NotInRecipe()] = False
    """Report the position of each edge in the graph, to look up its id, weight and features."""
    hide: Annotated[Hide, NotInRecipe()] = "none"
    """How the link between the ends of a pair is treated (see protocol.Hide)."""
    num_threads: Annotated[int, Ge(0), Le(1024), NotInRecipe()] = 0
    """Threads to use; 0 for every core of this process."""

    def __post_init__(self) -> None:
        """Check every option by its annotation; a kind with rules between options adds them."""
        check_options(self)
        for option in options_of(type(self)):
            if option.names_path and isinstance(value := getattr(self, option.name), Path):
                object.__setattr__(self, option.name, str(value))
        if self.scope_graph is None and self.scope_edges != "graph":
            raise ValueError(f'{self._owner}: scope_edges must be "graph" without a scope_graph')

    @abstractmethod
    def choose(self, graph: Graph, targets: NDArray[np.int64], seed: int) -> Subgraphs:
        """Return one scope for each row of the checked targets [B, T]."""

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target."""
        graph.raise_damage()
        if isinstance(graph, ChangedGraph) and not self.reads_changes:
            raise ValueError(
                f"{self._owner}: graph must be one without changes, because scopes depend on more than the lists "
                "around a target; compact the changes first"
            )
        groups = check_targets(graph, targets, self._owner)
        check_pairs(self._owner, self.hide, groups)
        other = self._scope_graph
        if other is None:
            return self.choose(graph, groups, seed)
        check_scope_graph(other, graph)
        scopes = self.choose(replace(other, x=graph.x) if self.reads_features else other, groups, seed)
        return scopes if self.scope_edges == "scope_graph" else on_graph(graph, scopes, self.common)

    @property
    def deterministic(self) -> bool:
        """Whether the seed does not matter: True unless a kind overrides it."""
        return True

    @property
    def reads_features(self) -> bool:
        """Whether scopes depend on features: False unless a kind overrides it."""
        return False

    @property
    def reads_changes(self) -> bool:
        """Whether scopes of a changed graph can be extracted: not in another graph, and only by kinds that say so."""
        return self.follows_changes and self.scope_graph is None

    @property
    def common(self) -> dict[str, Any]:
        """The options that every call of the core takes."""
        return {"edge_pos": self.edge_pos, "hide": self.hide, "num_threads": self.num_threads}

    @property
    def key(self) -> str:
        """Kind, version and every option that affects scopes; shared options only if they are set."""
        return self._key_with()

    def edge_graph(self, graph: Graph) -> Graph:
        """Return the graph whose edges the scopes have, after checking that scope_graph fits the graph."""
        if (other := self._scope_graph) is None:
            return graph
        check_scope_graph(other, graph)
        return other if self.scope_edges == "scope_graph" else graph

    def with_common(
        self, *, edge_pos: bool | None = None, hide: Hide | None = None, num_threads: int | None = None
    ) -> Self:
        """Return the same extractor with other values of these options; None keeps a value."""
        given = {"edge_pos": edge_pos, "hide": hide, "num_threads": num_threads}
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None and value != getattr(self, name)
        }
        return replace(self, **changes) if changes else self

    def for_evaluation(self) -> BaseExtractor:
        """Return the extractor for evaluation, which draws nothing again in each epoch."""
        return self

    def with_absolute_paths(self) -> Self:
        """Return the same extractor with all its paths absolute."""
        named = {option.name: getattr(self, option.name) for option in options_of(type(self)) if option.names_path}
        whole: dict[str, Any] = {name: os.path.abspath(path) for name, path in named.items() if isinstance(path, str)}
        return replace(self, **whole)

    @property
    def _owner(self) -> str:
        return type(self).__name__

    @cached_property
    def _scope_graph(self) -> Graph | None:
        return opened("scope_graph", self.scope_graph)

    def _key_with(self, **instead: object) -> str:
        """Write the key, with the values of some options replaced."""
        parts = [f"{self.kind}/{self.version}"]
        values = {**instead, "scope_graph": fingerprint_of(self._scope_graph)}
        for option in options_of(type(self)):
            value = values.get(option.name, getattr(self, option.name))
            shared = option.name in BaseExtractor.__dataclass_fields__
            if option.name != "num_threads" and not (shared and value == option.default):
                parts.append(f"{option.name}={value}")
        return " ".join(parts)


def opened(name: str, graph: Graph | str | Path | None) -> Graph | None:
    """Return the graph that an option names; a FolderError names the option."""
    if graph is None or isinstance(graph, Graph):
        return graph
    try:
        return open_any_graph(graph)
    except ShadowError as error:
        raise FolderError(f"extractor.{name}: {error}") from error


def fingerprint_of(graph: Graph | None) -> str | None:
    """Return the part of a key that identifies another graph."""
    return None if graph is None else f"{graph.fingerprint}{' directed' if graph.directed else ''}"
