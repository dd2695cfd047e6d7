"""App: the HTTP interface of a service, with versioned paths and one line for every fault.

Not for: the work behind it (service.py), or sockets and signals (server.py).
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shadow_gnn.base.errors import ShadowError, WriteError
from shadow_gnn.graph.changes.live_graph import KeyConflict, Made, ReadOnly
from shadow_gnn.serve.direct import Direct
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.metrics import ServiceMetrics
from shadow_gnn.serve.requests import (
    AddNodesBody,
    ExplainBody,
    LinksBody,
    PredictBody,
    ReloadBody,
    RemoveEdgesBody,
    RemoveNodesBody,
    RetrieveBody,
    ScopeBody,
    SetEdgesBody,
)
from shadow_gnn.serve.service import Service
from shadow_gnn.serve.waiting import Draining, QueueFull

_OPEN = ("/healthz", "/readyz", "/")
"""Paths that need no token, as do the files of the explorer's page."""
_FILES = "/explore/"
_FAULTS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": text,
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
            }
        },
    }
    for status, text in (
        (400, "The body is not JSON."),
        (401, "The token is missing or wrong."),
        (403, "The service follows the log of another one and takes no updates."),
        (409, "The key was used for another update."),
        (413, "The body is too large."),
        (422, "A value is wrong; the line says which and why."),
        (503, "Too many requests wait, or the service ends; come back after Retry-After seconds."),
        (504, "The request took too long."),
        (507, "The disk is full: updates are refused, predictions go on."),
    )
}


class Guarded(Protocol):
    """A service as the gate before it sees it."""

    @property
    def limits(self) -> Limits:
        """Bounds of every request."""
        ...

    @property
    def metrics(self) -> ServiceMetrics:
        """Where requests are counted."""
        ...


def create_app(
    service: Service, *, token: str | None = None, extend: Callable[[FastAPI], None] | None = None
) -> FastAPI:
    """Return the app of a service; token: demanded of every request but health checks, None for none.

    extend: adds paths, such as those of the explorer.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    app = guarded_app(service, token=token, lifespan=lifespan)
    _add_reads(app, service)
    _add_updates(app, service)
    _add_state(app, service)
    if extend is not None:
        extend(app)
    return app


def guarded_app(service: Guarded, *, token: str | None, lifespan: Callable[[FastAPI], Any]) -> FastAPI:
    """Return an app without paths: the token and the limits before every request, and one line for every fault."""
    app = _GuardedApp(
        title="shadow-gnn",
        version="1",
        summary="Predictions of a deep GNN on a graph that changes",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=_FAULTS,
    )
    _add_faults(app)
    app.gate = _Gate(partial(FastAPI.__call__, app), service, token, Direct(app))
    return app


class _GuardedApp(FastAPI):
    """An app behind a gate that every message passes first, before the layers of the framework, which take time."""

    gate: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.gate(scope, receive, send)


async def _wait(service: Service, start: Callable[[], Future[Any]]) -> Any:
    """Wait for a result; a request that takes too long is given up.

    It is wait_for(wrap_future(...)) in fewer steps: for a small update, those steps were a large part of the work.
    """
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[Any] = loop.create_future()
    found = start()
    found.add_done_callback(lambda done: loop.call_soon_threadsafe(_pass_on, done, waiter))
    timer = loop.call_later(service.limits.seconds, _give_up, waiter)
    try:
        return await waiter
    finally:
        timer.cancel()
        found.cancel()


def _pass_on(done: Future[Any], waiter: asyncio.Future[Any]) -> None:
    """Give the result of work to the request that waits for it, unless it was given up."""
    if waiter.done():
        return
    error = done.exception()
    if error is None:
        waiter.set_result(done.result())
    else:
        waiter.set_exception(error)


def _give_up(waiter: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())


def _add_reads(app: FastAPI, service: Service) -> None:
    @app.post("/v1/predict")
    async def predict(body: PredictBody) -> JSONResponse:
        """Predict nodes by id or name, and new nodes that only this request sees."""
        return JSONResponse(await _wait(service, lambda: service.predict(body)))

    @app.post("/v1/links")
    async def links(body: LinksBody) -> JSONResponse:
        """Score pairs of nodes, or recommend new neighbors of a node."""
        return JSONResponse(await _wait(service, lambda: service.links(body)))

    @app.post("/v1/scope")
    async def scope(body: ScopeBody) -> JSONResponse:
        """Show the scope of a node with scores and hops."""
        return JSONResponse(await _wait(service, lambda: service.scope(body)))

    @app.post("/v1/explain")
    async def explain(body: ExplainBody) -> JSONResponse:
        """Return the nodes, edges and columns of the scope that contributed most to a prediction."""
        return JSONResponse(await _wait(service, lambda: service.explain(body)))

    @app.post("/v1/retrieve")
    async def retrieve(body: RetrieveBody) -> JSONResponse:
        """Return the best nodes around weighted seeds, and the edges between them."""
        return JSONResponse(await _wait(service, lambda: service.retrieve(body)))


def _add_updates(app: FastAPI, service: Service) -> None:
    async def made(start: Callable[[], Future[Made]], num_new: int = 0) -> JSONResponse:
        found: Made = await _wait(service, start)
        ids = {"ids": [found.first_node + number for number in range(num_new)]} if num_new else {}
        return JSONResponse({"graph_version": found.version, **ids})

    @app.post("/v1/graph/edges")
    async def set_edges(body: SetEdgesBody) -> JSONResponse:
        """Add edges, or change their weights and attributes; answered when they are safe on the disk."""
        return await made(lambda: service.update(body))

    @app.delete("/v1/graph/edges")
    async def remove_edges(body: RemoveEdgesBody) -> JSONResponse:
        """Remove edges."""
        return await made(lambda: service.update(body))

    @app.post("/v1/graph/nodes")
    async def add_nodes(body: AddNodesBody) -> JSONResponse:
        """Add nodes with their edges; the answer has their ids."""
        return await made(lambda: service.update(body), len(body.nodes))

    @app.delete("/v1/graph/nodes")
    async def remove_nodes(body: RemoveNodesBody) -> JSONResponse:
        """Remove the edges and names of nodes; their ids stay."""
        return await made(lambda: service.update(body))

    @app.post("/v1/graph/compact", status_code=202)
    async def compact() -> JSONResponse:
        """Begin to fold the log into the graph folder; done when folder_version of /v1/state is that of the answer."""
        version: int = await _wait(service, service.writer.compact)
        return JSONResponse({"folder_version": version}, 202)


def _add_state(app: FastAPI, service: Service) -> None:
    @app.get("/v1/state")
    async def state() -> JSONResponse:
        """Return the versions of the runs and of the graph."""
        return JSONResponse(service.state())

    @app.post("/v1/reload")
    async def reload(body: ReloadBody) -> JSONResponse:
        """Read runs again from their folders; requests are answered by the old ones until then."""
        return JSONResponse(await asyncio.wrap_future(service.reload(body.run)))

    @app.get("/healthz")
    async def healthz() -> JSONResponse:
        """Tell that the process answers."""
        return JSONResponse({"status": "ok"})

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        """Tell whether requests are taken."""
        fault = service.writer.fault
        ready = service.ready and fault is None
        why = {} if fault is None else {"error": fault}
        return JSONResponse({"ready": ready, **why}, 200 if ready else 503)

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Return counts and times in the text format of Prometheus."""
        return Response(service.show_metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _fault(status: int, line: str, headers: dict[str, str] | None = None) -> JSONResponse:
    plain = " ".join(line.split())[:500].encode(errors="replace").decode()
    return JSONResponse({"error": plain}, status, headers)


def _add_faults(app: FastAPI) -> None:
    """Turn every exception into a status and one line."""
    handlers: dict[type[Exception], Callable[[Any], JSONResponse]] = {
        RequestValidationError: lambda error: _fault(*_first_fault(error)),
        KeyConflict: lambda error: _fault(409, str(error)),
        ReadOnly: lambda error: _fault(403, str(error)),
        ValueError: lambda error: _fault(422, str(error)),
        WriteError: lambda error: _fault(507, str(error)),
        ShadowError: lambda error: _fault(503, str(error), {"Retry-After": "5"}),
        QueueFull: lambda _: _fault(503, "service: too many requests wait", {"Retry-After": "1"}),
        Draining: lambda _: _fault(503, "service: ends and takes no new requests", {"Retry-After": "5"}),
        asyncio.TimeoutError: lambda _: _fault(504, "service: the request took too long"),
    }

    def handler(answer: Callable[[Any], JSONResponse]) -> Callable[[Request, Exception], Awaitable[Response]]:
        async def handle(_: Request, error: Exception) -> Response:
            return answer(error)

        return handle

    for kind, answer in handlers.items():
        app.add_exception_handler(kind, handler(answer))

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = error.headers
        if error.status_code == 405:  # Each route knows its own methods alone.
            known = [getattr(route, "methods", ()) for route in app.routes if _path_of(route) == request.url.path]
            headers = {"Allow": ", ".join(sorted(method for methods in known for method in methods))}
        # The framework has 400 only for a body that its reader of JSON gives up on.
        line = "body: must be JSON in UTF-8 and of few levels" if error.status_code == 400 else str(error.detail)
        return _fault(error.status_code, line, dict(headers or {}))

    app.add_exception_handler(HTTPException, of_http)


def _path_of(route: object) -> str:
    return str(getattr(route, "path", ""))


def _first_fault(error: RequestValidationError) -> tuple[int, str]:
    """Return the status and the line of the first fault of a body."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return 400, f"body: must be JSON: {first.get('ctx', {}).get('error', '')}"
    where = ".".join(str(part) for part in first["loc"])
    return 422, f"{where}: {first['msg']}"


class _Gate:
    """Before every request: the token, the size of the body; after it: the metrics."""

    def __init__(self, app: ASGIApp, service: Guarded, token: str | None, direct: Direct) -> None:
        self._app, self._service, self._direct = app, service, direct
        self._token = None if token is None else b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, path = time.monotonic(), scope["path"]
        status = 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            headers = dict(scope["headers"])
            refused = self._refusal(scope, headers)
            if refused is not None:
                await refused(scope, receive, send_noted)
                return
            body = await _read_body(receive, self._service.limits.body_bytes)
            if body is None:
                await self._too_large()(scope, receive, send_noted)
                return
            answer = await self._direct.answer(scope, headers, body)
            await (self._app if answer is None else answer)(scope, _given(body), send_noted)
        finally:
            known = path if path in _OPEN or path == "/metrics" or path.startswith("/v1/") else "other"
            self._service.metrics.answered(known if status != 404 else "other", status, time.monotonic() - begin)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> JSONResponse | None:
        if self._token is not None and not (scope["path"] in _OPEN or scope["path"].startswith(_FILES)):
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._token):
                line = "token: must be given as `Authorization: Bearer ...`"
                return _fault(401, line, {"WWW-Authenticate": "Bearer"})
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._service.limits.body_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> JSONResponse:
        return _fault(413, f"body: must have at most {self._service.limits.body_bytes} bytes")


async def _read_body(receive: Receive, most: int) -> bytes | None:
    """Return the whole body, None if it is too large."""
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _given(body: bytes) -> Receive:
    """Return a channel that gives a body that was read before."""
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            await asyncio.Event().wait()  # Nobody disconnects a request that is here as a whole.
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
