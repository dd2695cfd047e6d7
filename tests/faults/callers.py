"""Callers that update a served graph, each its own nodes, and know what must be there after every answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Nodes = dict[float, tuple[int, frozenset[int]]]
"""Added nodes by the number in their features: id and neighbors."""


@dataclass(frozen=True)
class Change:
    """An update: how it is sent, and what there is after it."""

    key: str
    kind: str
    rows: list[Any]
    number: float
    """Of the node that it is about."""
    neighbors: frozenset[int]
    """Of that node after it."""

    async def send(self, client: Any) -> dict[str, Any]:
        """Send it; the answer has the ids of new nodes."""
        answer: dict[str, Any] = await getattr(client, self.kind)(self.rows, key=self.key)
        return answer


@dataclass
class Caller:
    """Sends one update after the other; all that were answered are in `nodes`."""

    name: int
    rng: random.Random
    num_stored: int
    """Nodes of the stored graph, which new ones are joined to."""
    nodes: Nodes = field(default_factory=dict)
    sent: Change | None = None
    """The update that was not answered."""
    num_answered: int = 0
    _count: int = 0

    async def work(self, client: Any) -> None:
        """Send again what was not answered, then new updates until the service is gone."""
        from httpx import HTTPError

        with suppress(HTTPError):
            while True:
                self.sent = self.sent or self._draw()
                self._remember(self.sent, await self.sent.send(client))

    def _remember(self, change: Change, answer: dict[str, Any]) -> None:
        node = answer["ids"][0] if change.kind == "add_nodes" else self.nodes[change.number][0]
        self.nodes[change.number] = node, change.neighbors
        self.sent = None
        self.num_answered += 1

    def _draw(self) -> Change:
        """Return an update that changes something: a new node, or another edge of one, or one edge less, or none."""
        self._count += 1
        key, rng = f"caller {self.name}, update {self._count}", self.rng
        kind = rng.choice(["add_nodes", "set_edges", "remove_edges", "remove_nodes"]) if self.nodes else "add_nodes"
        other = rng.randrange(self.num_stored)
        if kind == "add_nodes":
            number = float(1_000_000 * self.name + self._count)
            row = {"features": [number, 0.0, 1.0], "edges": [{"to": other}]}
            return Change(key, kind, [row], number, frozenset([other]))
        number = rng.choice(list(self.nodes))
        node, neighbors = self.nodes[number]
        if not neighbors or kind == "set_edges":
            other = rng.choice([each for each in range(self.num_stored) if each not in neighbors])
            return Change(key, "set_edges", [{"from": node, "to": other}], number, neighbors | {other})
        if kind == "remove_edges":
            other = rng.choice(sorted(neighbors))
            return Change(key, kind, [{"from": node, "to": other}], number, neighbors - {other})
        return Change(key, kind, [node], number, frozenset())

    def fault(self, found: Nodes) -> str:
        """Return what is wrong with the nodes of this caller; an update that was not answered may be made or not."""
        for number, (node, neighbors) in self.nodes.items():
            if self.sent is None or self.sent.number != number:
                allowed = [neighbors]
            else:
                allowed = [neighbors, self.sent.neighbors]
            if found.get(number, (-1, frozenset()))[0] != node:
                return f"node {number} is lost"
            if found[number][1] not in allowed:
                return f"node {number} has the neighbors {sorted(found[number][1])}, not {sorted(neighbors)}"
        return ""

    def was_made(self, found: Nodes) -> bool:
        """Tell whether the update that was not answered was made."""
        if self.sent is None or self.sent.number not in found:
            return False
        return self.sent.kind == "add_nodes" or found[self.sent.number][1] == self.sent.neighbors


async def call_all(url: str, callers: list[Caller], moment: float, kill: Any) -> int:
    """Let all callers work, and others predict, until the service is killed; return the predictions that were answered.

    kill: called after `moment` seconds, None if the service kills itself.
    """
    from httpx import HTTPError

    from shadow_gnn.client import AsyncClient

    answered = 0

    async def predict(client: Any) -> None:
        nonlocal answered
        with suppress(HTTPError):
            while True:
                await client.predict([answered % 50])
                answered += 1

    async with AsyncClient(url, retries=0) as client:
        work = asyncio.gather(*(caller.work(client) for caller in callers), predict(client))
        if kill is not None:
            await asyncio.sleep(moment)
            kill()
        await work
    return answered


def added_nodes(live: Any, num_stored: int) -> Iterator[tuple[float, tuple[int, frozenset[int]]]]:
    """Yield the nodes that a graph has above those that it began with."""
    from shadow_gnn import _core

    graph = live.graph
    features = graph.features.rows(np.arange(graph.num_nodes))
    for node in range(num_stored, graph.num_nodes):
        neighbors = _core.lists_of(graph.view, node, node + 1)[1]
        yield float(features[node, 0]), (node, frozenset(neighbors.tolist()))
