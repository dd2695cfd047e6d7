"""Client: a typed caller of `shadow serve`, sync and async, with retries that are safe.

Not for: predictions in this process (inference/predictor.py). Needs only httpx, which the extra `serve` brings.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

Node = int | str
"""A node by id or by name."""
Answer = dict[str, Any]

_AGAIN = (502, 503, 504)
"""Statuses after which the same request may be sent again."""


class ServiceError(Exception):
    """An answer that is a fault; the message is the service's own line."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(f"{status}: {line}")
        self.status, self.line = status, line


class _Requests:
    """Bodies of all requests; an update gets a key, so that sending it again is harmless."""

    @staticmethod
    def predict(nodes: Sequence[Node], new_nodes: Sequence[Mapping[str, Any]], embedding: bool) -> Answer:
        return {"nodes": list(nodes), "new_nodes": [dict(node) for node in new_nodes], "embedding": embedding}

    @staticmethod
    def retrieve(seeds: Mapping[Node, float] | Sequence[Node], topk: int) -> Answer:
        weights = seeds if isinstance(seeds, Mapping) else dict.fromkeys(seeds, 1.0)
        return {"seeds": [{"node": node, "weight": float(weight)} for node, weight in weights.items()], "topk": topk}

    @staticmethod
    def update(name: str, rows: Sequence[Mapping[str, Any] | Node], key: str | None) -> Answer:
        plain = [dict(row) if isinstance(row, Mapping) else row for row in rows]
        return {name: plain, "key": key or uuid.uuid4().hex}


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def _result(response: httpx.Response) -> Answer:
    try:
        content = response.json()
    except ValueError:
        content = {"error": response.text[:200]}
    if response.status_code >= 400:
        line = content.get("error", "") if isinstance(content, dict) else str(content)
        raise ServiceError(response.status_code, str(line))
    return dict(content)


def _pause(attempt: int, response: httpx.Response | None) -> float:
    """Return the seconds until the next attempt: what the service says, or twice as long each time."""
    after = "" if response is None else response.headers.get("Retry-After", "")
    return float(after) if after.isdigit() else 0.1 * 2**attempt * (0.5 + random.random())


class Client:
    """A caller that waits for each answer.

    A request is sent again after a broken connection or a busy service: predictions change nothing, and an update has a
    key by which the service knows it.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 3) -> None:
        """Keep the address; no request is sent yet."""
        self._http = httpx.Client(base_url=url, headers=_headers(token), timeout=timeout)
        self._retries = retries

    def predict(
        self, nodes: Sequence[Node] = (), *, new_nodes: Sequence[Mapping[str, Any]] = (), embedding: bool = False
    ) -> Answer:
        """Predict known nodes, and new nodes such as {"features": [...], "edges": [{"to": 17}]}."""
        return self._send("POST", "/v1/predict", _Requests.predict(nodes, new_nodes, embedding))

    def links(self, pairs: Sequence[tuple[Node, Node]]) -> Answer:
        """Score pairs of nodes."""
        return self._send("POST", "/v1/links", {"pairs": [list(pair) for pair in pairs]})

    def recommend(self, node: Node, *, top: int = 20) -> Answer:
        """Return the most likely new neighbors of a node."""
        return self._send("POST", "/v1/links", {"recommend": node, "top": top})

    def scope(self, node: Node) -> Answer:
        """Return the scope of a node."""
        return self._send("POST", "/v1/scope", {"node": node})

    def retrieve(self, seeds: Mapping[Node, float] | Sequence[Node], *, topk: int = 200) -> Answer:
        """Return the best nodes around weighted seeds."""
        return self._send("POST", "/v1/retrieve", _Requests.retrieve(seeds, topk))

    def set_edges(self, edges: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Answer:
        """Add or change edges such as {"from": 3, "to": 17}."""
        return self._send("POST", "/v1/graph/edges", _Requests.update("edges", edges, key))

    def remove_edges(self, edges: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Answer:
        """Remove edges."""
        return self._send("DELETE", "/v1/graph/edges", _Requests.update("edges", edges, key))

    def add_nodes(self, nodes: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Answer:
        """Add nodes with their edges; the answer has their ids."""
        return self._send("POST", "/v1/graph/nodes", _Requests.update("nodes", nodes, key))

    def remove_nodes(self, nodes: Sequence[Node], *, key: str | None = None) -> Answer:
        """Remove the edges and names of nodes."""
        return self._send("DELETE", "/v1/graph/nodes", _Requests.update("nodes", nodes, key))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _send(self, method: str, path: str, body: Answer) -> Answer:
        for attempt in range(self._retries + 1):
            response = None
            try:
                response = self._http.request(method, path, json=body)
            except httpx.TransportError:
                if attempt == self._retries:
                    raise
            if response is not None and (response.status_code not in _AGAIN or attempt == self._retries):
                return _result(response)
            time.sleep(_pause(attempt, response))
        raise AssertionError("the last attempt returns or raises")


class AsyncClient:
    """The same for asyncio."""

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 3) -> None:
        """Keep the address; no request is sent yet."""
        self._http = httpx.AsyncClient(base_url=url, headers=_headers(token), timeout=timeout)
        self._retries = retries

    async def predict(
        self, nodes: Sequence[Node] = (), *, new_nodes: Sequence[Mapping[str, Any]] = (), embedding: bool = False
    ) -> Answer:
        """Predict known nodes, and new nodes such as {"features": [...], "edges": [{"to": 17}]}."""
        return await self._send("POST", "/v1/predict", _Requests.predict(nodes, new_nodes, embedding))

    async def links(self, pairs: Sequence[tuple[Node, Node]]) -> Answer:
        """Score pairs of nodes."""
        return await self._send("POST", "/v1/links", {"pairs": [list(pair) for pair in pairs]})

    async def recommend(self, node: Node, *, top: int = 20) -> Answer:
        """Return the most likely new neighbors of a node."""
        return await self._send("POST", "/v1/links", {"recommend": node, "top": top})

    async def scope(self, node: Node) -> Answer:
        """Return the scope of a node."""
        return await self._send("POST", "/v1/scope", {"node": node})

    async def retrieve(self, seeds: Mapping[Node, float] | Sequence[Node], *, topk: int = 200) -> Answer:
        """Return the best nodes around weighted seeds."""
        return await self._send("POST", "/v1/retrieve", _Requests.retrieve(seeds, topk))

    async def set_edges(self, edges: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Answer:
        """Add or change edges such as {"from": 3, "to": 17}."""
        return await self._send("POST", "/v1/graph/edges", _Requests.update("edges", edges, key))

    async def remove_edges(self, edges: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Answer:
        """Remove edges."""
        return await self._send("DELETE", "/v1/graph/edges", _Requests.update("edges", edges, key))

    async def add_nodes(self, nodes: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Answer:
        """Add nodes with their edges; the answer has their ids."""
        return await self._send("POST", "/v1/graph/nodes", _Requests.update("nodes", nodes, key))

    async def remove_nodes(self, nodes: Sequence[Node], *, key: str | None = None) -> Answer:
        """Remove the edges and names of nodes."""
        return await self._send("DELETE", "/v1/graph/nodes", _Requests.update("nodes", nodes, key))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(self, method: str, path: str, body: Answer) -> Answer:
        for attempt in range(self._retries + 1):
            response = None
            try:
                response = await self._http.request(method, path, json=body)
            except httpx.TransportError:
                if attempt == self._retries:
                    raise
            if response is not None and (response.status_code not in _AGAIN or attempt == self._retries):
                return _result(response)
            await asyncio.sleep(_pause(attempt, response))
        raise AssertionError("the last attempt returns or raises")
