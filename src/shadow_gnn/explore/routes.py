"""Routes: the paths of the page and of its questions, added to an app of their own or to that of a service.

Not for: the answers (explorer.py), or faults, token and limits (serve/app.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from shadow_gnn.explore.explorer import Explorer
from shadow_gnn.explore.pages import HEADERS, INDEX, Asset, read_assets
from shadow_gnn.explore.requests import PickBody, ScopeBody
from shadow_gnn.serve.app import guarded_app
from shadow_gnn.serve.metrics import ServiceMetrics
from shadow_gnn.serve.server import is_local


def create_explorer_app(explorer: Explorer, *, token: str | None = None) -> FastAPI:
    """Return an app with the explorer alone; token: demanded of every question of the page, None for none."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(explorer.close)

    app = guarded_app(_Guard(explorer), token=token, lifespan=lifespan)
    add_explorer(app, explorer)
    if token is None:
        app.add_middleware(_OwnHost)
    return app


class _OwnHost:
    """Refuses requests by another name than this machine's: a page of another site could have its name lead here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            try:
                name = urlsplit(f"//{given}").hostname or ""
            except ValueError:
                name = ""
            if not is_local(name):
                line = f"host: must be localhost or an address of this machine without a token, got {name[:80]!r}"
                await JSONResponse({"error": line}, 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Guard:
    """Limits and metrics of an explorer without a service."""

    def __init__(self, explorer: Explorer) -> None:
        self.limits, self.metrics = explorer.limits, ServiceMetrics()


def add_explorer(app: FastAPI, explorer: Explorer) -> None:
    """Add the page at / and its questions below /v1/explore; a service that has one also closes it."""
    _add_page(app, read_assets())

    async def wait(start: Callable[[], Future[Any]]) -> JSONResponse:
        await asyncio.to_thread(explorer.prepare)
        waiting = asyncio.wrap_future(start())
        return JSONResponse(await asyncio.wait_for(waiting, explorer.limits.seconds))

    @app.get("/v1/explore/about")
    async def about() -> JSONResponse:
        """Return the facts of the graph, the runs and the extractors."""
        await asyncio.to_thread(explorer.prepare)
        return JSONResponse(await asyncio.to_thread(explorer.about))

    @app.get("/v1/explore/find")
    async def find(text: str, limit: int = 20) -> JSONResponse:
        """Find nodes whose name or id begins with a text."""
        return JSONResponse(await asyncio.to_thread(explorer.find, text, limit))

    @app.get("/v1/explore/split")
    async def split(run: str, split: str = "test") -> JSONResponse:
        """Return how right a run is on a split, or how far that is computed."""
        await asyncio.to_thread(explorer.prepare)
        return JSONResponse(explorer.split(run, split))

    @app.post("/v1/explore/pick")
    async def pick(body: PickBody) -> JSONResponse:
        """Return targets with a property."""
        return await wait(lambda: explorer.pick(body))

    @app.post("/v1/explore/scope")
    async def scope(body: ScopeBody) -> JSONResponse:
        """Show a scope, the prediction on it and its explanation, also with edits that only this request sees."""
        return await wait(lambda: explorer.scope(body))


def _add_page(app: FastAPI, assets: dict[str, Asset]) -> None:
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return _sent(assets[INDEX], request)

    @app.get("/explore/{name}", include_in_schema=False)
    async def asset(name: str, request: Request) -> Response:
        if name not in assets:
            raise HTTPException(404, "Not Found")
        return _sent(assets[name], request)


def _sent(asset: Asset, request: Request) -> Response:
    headers = {**HEADERS, "ETag": asset.tag, "Vary": "Accept-Encoding"}
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(asset.content, headers=headers, media_type=asset.media_type)
    headers["Content-Encoding"] = "gzip"
    return Response(asset.compressed, headers=headers, media_type=asset.media_type)
