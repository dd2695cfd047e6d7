"""Direct: a body that fits goes straight to its endpoint; all other requests take the way through the framework.

Not for: faults of a body, whose line comes from one place only (app.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.types import Scope

_JSON = b"application/json"


@dataclass(frozen=True, eq=False)
class _Endpoint:
    """An endpoint whose only input is its body."""

    body: type[BaseModel]
    answer: Callable[[Any], Awaitable[Response]]


class Direct:
    """Endpoints of an app by method and path; routing and dependencies cost more than most of them."""

    def __init__(self, app: FastAPI) -> None:
        """Keep the app; its paths are read at the first request, when all are there."""
        self._app = app
        self._endpoints: dict[tuple[str, str], _Endpoint] | None = None

    async def answer(self, scope: Scope, headers: dict[bytes, bytes], body: bytes) -> Response | None:
        """Return the answer to a request; None if the framework is to answer it."""
        if self._endpoints is None:
            self._endpoints = _endpoints(self._app)
        endpoint = self._endpoints.get((scope["method"], scope["path"]))
        if endpoint is None or headers.get(b"content-type") != _JSON:
            return None
        try:
            given = endpoint.body.model_validate_json(body)
        except ValidationError:
            return None
        try:
            return await endpoint.answer(given)
        except Exception as error:
            handlers = self._app.exception_handlers
            handler: Any = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
            if handler is None:
                raise
            found: Response = await handler(Request(scope), error)
            return found


def _endpoints(app: FastAPI) -> dict[tuple[str, str], _Endpoint]:
    found = dict[tuple[str, str], _Endpoint]()
    for route in app.routes:
        if isinstance(route, APIRoute) and (endpoint := _endpoint(route)) is not None:
            found |= {(method, route.path): endpoint for method in route.methods or ()}
    return found


def _endpoint(route: APIRoute) -> _Endpoint | None:
    """Return an endpoint that takes a record and returns a finished answer, None for all others."""
    hints = get_type_hints(route.endpoint)
    returned = hints.pop("return", None)
    if returned is not JSONResponse or len(hints) != 1 or route.dependant.dependencies:
        return None
    ((_, kind),) = hints.items()
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return None
    return _Endpoint(kind, route.endpoint)
