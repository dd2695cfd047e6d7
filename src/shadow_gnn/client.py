"""Client: a typed caller of `shadow serve`, sync and async, with retries that are safe.

Not for: predictions in this process (inference/predictor.py). Needs only httpx, which the extra `serve` brings.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import httpx

Node = int | str
"""A node by id or by name."""
Answer = dict[str, Any]
R = TypeVar("R")

_AGAIN = (502, 503, 504)
"""Statuses after which the same request may be sent again."""


class ServiceError(Exception):
    """An answer that is a fault; the message is the service's own line.

    >>> from shadow_gnn.client import ServiceError
    >>> ServiceError(429, "too many requests").status
    429
    """

    def __init__(self, status: int, line: str) -> None:
        super().__init__(f"{status}: {line}")
        self.status, self.line = status, line


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


class _Calls(ABC, Generic[R]):
    """All calls; an update gets a key, by which the service knows it if it is sent again."""

    @abstractmethod
    def _send(self, method: str, path: str, body: Answer | None) -> R:
        """Send a request and return its answer, or what will give it."""

    def predict(
        self,
        nodes: Sequence[Node] = (),
        *,
        new_nodes: Sequence[Mapping[str, Any]] = (),
        embedding: bool = False,
        run: str | None = None,
    ) -> R:
        """Predict known nodes, and new nodes such as {"features": [...], "edges": [{"to": 17}]}; run: its name."""
        new = [dict(node) for node in new_nodes]
        body = {"nodes": list(nodes), "new_nodes": new, "embedding": embedding, "run": run}
        return self._send("POST", "/v1/predict", body)

    def explain(
        self,
        node: Node | None = None,
        *,
        new_nodes: Sequence[Mapping[str, Any]] = (),
        pair: tuple[Node, Node] | None = None,
        explained_class: Node | None = None,
        top: int = 20,
        run: str | None = None,
    ) -> R:
        """Return what contributed most to the prediction of a node, of the first new node, or of a pair."""
        body = {
            "node": node,
            "new_nodes": [dict(one) for one in new_nodes],
            "pair": None if pair is None else list(pair),
            "class": explained_class,
            "top": top,
            "run": run,
        }
        return self._send("POST", "/v1/explain", body)

    def links(self, pairs: Sequence[tuple[Node, Node]], *, run: str | None = None) -> R:
        """Score pairs of nodes."""
        return self._send("POST", "/v1/links", {"pairs": [list(pair) for pair in pairs], "run": run})

    def recommend(self, node: Node, *, top: int = 20, run: str | None = None) -> R:
        """Return the most likely new neighbors of a node."""
        return self._send("POST", "/v1/links", {"recommend": node, "top": top, "run": run})

    def scope(self, node: Node, *, run: str | None = None) -> R:
        """Return the scope of a node."""
        return self._send("POST", "/v1/scope", {"node": node, "run": run})

    def state(self) -> R:
        """Return the versions of runs, graph and graph folder."""
        return self._send("GET", "/v1/state", None)

    def reload(self, run: str | None = None) -> R:
        """Let the service read a run again, or all of them."""
        return self._send("POST", "/v1/reload", {"run": run})

    def compact(self) -> R:
        """Let the service begin to fold its log into the graph folder."""
        return self._send("POST", "/v1/graph/compact", None)

    def retrieve(self, seeds: Mapping[Node, float] | Sequence[Node], *, topk: int = 200) -> R:
        """Return the best nodes around weighted seeds."""
        weights = seeds if isinstance(seeds, Mapping) else dict.fromkeys(seeds, 1.0)
        rows = [{"node": node, "weight": float(weight)} for node, weight in weights.items()]
        return self._send("POST", "/v1/retrieve", {"seeds": rows, "topk": topk})

    def set_edges(self, edges: Sequence[Mapping[str, Any]], *, key: str | None = None) -> R:
        """Add or change edges such as {"from": 3, "to": 17}."""
        return self._update("POST", "edges", [dict(edge) for edge in edges], key)

    def remove_edges(self, edges: Sequence[Mapping[str, Any]], *, key: str | None = None) -> R:
        """Remove edges."""
        return self._update("DELETE", "edges", [dict(edge) for edge in edges], key)

    def add_nodes(self, nodes: Sequence[Mapping[str, Any]], *, key: str | None = None) -> R:
        """Add nodes with their edges; the answer has their ids."""
        return self._update("POST", "nodes", [dict(node) for node in nodes], key)

    def remove_nodes(self, nodes: Sequence[Node], *, key: str | None = None) -> R:
        """Remove the edges and names of nodes."""
        return self._update("DELETE", "nodes", list(nodes), key)

    def _update(self, method: str, name: str, rows: Sequence[Any], key: str | None) -> R:
        return self._send(method, f"/v1/graph/{name}", {name: rows, "key": key or uuid.uuid4().hex})


class Client(_Calls[Answer]):
    """A caller that waits for each answer.

    A request is sent again after a broken connection or a busy service: predictions change nothing, and an update has a
    key by which the service knows it.

    >>> from shadow_gnn.client import Client
    >>> with Client("http://127.0.0.1:8000", token="secret") as client:
    ...     sorted(name for name in dir(client) if not name.startswith("_"))[:3]
    ['add_nodes', 'close', 'compact']
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 3) -> None:
        """Keep the address; no request is sent yet."""
        self._http = httpx.Client(base_url=url, headers=_headers(token), timeout=timeout)
        self._retries = retries

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _send(self, method: str, path: str, body: Answer | None) -> Answer:
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


class AsyncClient(_Calls[Awaitable[Answer]]):
    """The same for asyncio: every call is awaited.

    >>> from shadow_gnn.client import AsyncClient
    >>> callable(AsyncClient("http://127.0.0.1:8000").predict)
    True
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 3) -> None:
        """Keep the address; no request is sent yet."""
        self._http = httpx.AsyncClient(base_url=url, headers=_headers(token), timeout=timeout)
        self._retries = retries

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(self, method: str, path: str, body: Answer | None) -> Answer:
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
