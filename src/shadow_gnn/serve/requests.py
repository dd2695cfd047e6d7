"""Requests: the bodies that callers send, as strict records; OpenAPI comes from here.

Not for: names and ids that must exist in the graph (resolve.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

Number = Annotated[float, Field(allow_inf_nan=False)]
NodeId = Annotated[int, Field(ge=0, lt=1 << 62)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Key = Annotated[str, Field(min_length=1, max_length=200)]


def _strict(*examples: JsonDict, by_name: bool = False) -> ConfigDict:
    """Return the configuration of a record; examples: bodies for the description of the interface."""
    return ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=by_name,
        json_schema_extra={"examples": [*examples]} if examples else None,
    )


class _Body(BaseModel):
    model_config = _strict()


class NewRef(_Body):
    """A new node of the same request."""

    new: Annotated[int, Field(ge=0, lt=1 << 31)]
    """Its place in the list of new nodes, from 0."""


Known = NodeId | Name
"""A node of the graph, by id or by name."""
Ref = NodeId | Name | NewRef
"""A node of the graph, or a new one of the same request."""


class NodeEdge(_Body):
    """An edge of a new node; in a directed graph `to` means that the new node sends, `from` that it receives."""

    model_config = _strict({"to": 17}, by_name=True)

    to: Ref | None = None
    from_: Annotated[Ref | None, Field(alias="from")] = None
    weight: Number | None = None
    """Needed if the graph is weighted."""
    attributes: list[Number] | None = None
    """Features of the edge, needed if the graph has them."""


class NewNode(_Body):
    """A node that the graph does not have."""

    name: Name | None = None
    features: list[Number] | dict[str, Number] | None = None
    """All columns in the order of the graph, or values by column name, 0 for the others."""
    edges: list[NodeEdge] = []


class _OfRun(_Body):
    run: Name | None = None
    """Name of the run that answers; the first one by default."""


class PredictBody(_OfRun):
    """Nodes to predict: known ones, new ones, or both."""

    model_config = _strict({"nodes": [3, 17]}, {"new_nodes": [{"edges": [{"to": 3}, {"to": 17}]}]})

    nodes: list[Known] = []
    new_nodes: list[NewNode] = []
    embedding: bool = False
    """Also return the inputs of the head."""


class LinksBody(_OfRun):
    """Pairs to score, or a node to recommend neighbors for."""

    model_config = _strict({"pairs": [[3, 17]]}, {"recommend": 3, "top": 5})

    pairs: list[Annotated[list[Known], Field(min_length=2, max_length=2)]] = []
    recommend: Known | None = None
    top: Annotated[int, Field(ge=1, le=10_000)] = 20
    num_candidates: Annotated[int, Field(ge=1, le=10_000)] = 500


class ScopeBody(_OfRun):
    """A node whose scope to show."""

    model_config = _strict({"node": 3})

    node: Known
    branch: Annotated[int, Field(ge=0, le=16)] = 0
    """Which extractor, for an ensemble."""


class ExplainBody(_OfRun):
    """A node whose prediction to explain, a new node, or a pair for a run of link prediction."""

    model_config = _strict({"node": 3}, {"new_nodes": [{"edges": [{"to": 3}]}]}, by_name=True)

    node: Known | None = None
    new_nodes: list[NewNode] = []
    """New nodes; without a known node, the first of them is explained."""
    pair: Annotated[list[Known], Field(min_length=2, max_length=2)] | None = None
    class_: Annotated[NodeId | Name | None, Field(alias="class")] = None
    """Class or label to explain, by number or name; the predicted one by default."""
    top: Annotated[int, Field(ge=1, le=10_000)] = 20
    """Most rows of each table, the strongest first."""


class ReloadBody(_OfRun):
    """A run to read again from its folder; all of them by default."""

    model_config = _strict({}, {"run": "first"})


class Seed(_Body):
    """A node to retrieve around."""

    node: Known
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class RetrieveBody(_Body):
    """Weighted seeds to retrieve the best nodes around."""

    model_config = _strict(
        {"seeds": [{"node": 3, "weight": 2.0}, {"node": 17}], "topk": 10},
        {"seeds": [{"node": 3}], "format": "text", "relation": "depends on"},
    )

    seeds: Annotated[list[Seed], Field(min_length=1)]
    topk: Annotated[int, Field(ge=1)] = 200
    teleport: Annotated[float, Field(ge=0.01, le=0.99)] = 0.2609
    format: Literal["json", "text"] = "json"
    """text: the edges as lines."""
    relation: Annotated[str, Field(max_length=200)] = "linked to"
    """Words between the two names of a line."""


class Edge(_Body):
    """An edge to set."""

    model_config = _strict(by_name=True)

    from_: Annotated[Known, Field(alias="from")]
    to: Known
    weight: Number | None = None
    attributes: list[Number] | None = None


class Ends(_Body):
    """An edge to remove."""

    model_config = _strict(by_name=True)

    from_: Annotated[Known, Field(alias="from")]
    to: Known


class SetEdgesBody(_Body):
    """Edges to add; one that exists gets the new weight and attributes."""

    model_config = _strict({"edges": [{"from": 3, "to": 17}], "key": "order 4711"})

    edges: Annotated[list[Edge], Field(min_length=1)]
    key: Key | None = None
    """Makes a repeated request harmless."""


class RemoveEdgesBody(_Body):
    """Edges to remove; one that does not exist is passed over."""

    model_config = _strict({"edges": [{"from": 3, "to": 17}]})

    edges: Annotated[list[Ends], Field(min_length=1)]
    key: Key | None = None


class AddNodesBody(_Body):
    """Nodes to add for good, with their edges."""

    model_config = _strict(
        {"nodes": [{"features": [0.5, 1.0], "edges": [{"to": 3}, {"to": {"new": 1}}]}, {"features": [0.0, 2.0]}]}
    )

    nodes: Annotated[list[NewNode], Field(min_length=1)]
    key: Key | None = None


class RemoveNodesBody(_Body):
    """Nodes that lose their edges and names; their ids stay."""

    model_config = _strict({"nodes": [17]})

    nodes: Annotated[list[Known], Field(min_length=1)]
    key: Key | None = None
