"""Server: the socket, the token and the process of a service; SIGTERM ends it after the last answer.

Not for: requests (app.py).
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from shadow_gnn.base import collector
from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import read_bytes
from shadow_gnn.base.turns import take_short_turns
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.service import Answer, Service

TOKEN = "SHADOW_TOKEN"
"""Variable of the environment that may hold the token."""
_LEAST_TOKEN = 16
DRAIN_SECONDS = 30
"""Most time for the last answers."""


def read_token(path: Path | None, host: str, *, command: str = "serve") -> str | None:
    """Return the token from a file or the environment; one is demanded unless only this machine can call."""
    text = os.environ.get(TOKEN) if path is None else read_bytes(path, 10_000, RunError).decode(errors="replace")
    token = None if text is None else text.strip()
    if token is not None and (len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        owner = TOKEN if path is None else str(path)
        raise ValueError(f"{command}: {owner} must hold a token of at least {_LEAST_TOKEN} printable ASCII characters")
    if token is None and not is_local(host):
        raise ValueError(
            f"{command}: --token-file or {TOKEN} must be given to serve other machines than this one, got --host {host}"
        )
    return token


def is_local(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(
    host: str, port: int, *, shared: bool = False, reserved: bool = False, command: str = "serve"
) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one.

    shared: other processes of this user may listen to the same port, and share its connections. reserved: only keep the
    port for them.
    """
    if reserved and port:
        listen(host, port).close()  # Another service must not have it.
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared or reserved:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        opened.bind(address)
        if not reserved:
            opened.listen(1024)
    except OSError as error:
        raise ValueError(f"{command}: --host and --port must be free, {host}:{port} is not: {error.strerror}") from None
    return opened


def run_server(
    service: Service,
    opened: socket.socket,
    token: str | None,
    started: Callable[[], object],
    *,
    ending: threading.Event | None = None,
    note: Callable[[str], None] = lambda _: None,
    extend: Callable[[FastAPI], None] | None = None,
) -> None:
    """Answer requests until SIGTERM or SIGINT; then take no more, finish those that wait, and close the log.

    SIGHUP reads the runs again. ending: another reason to end. extend: see create_app.
    """
    app = create_app(service, token=token, extend=extend)
    service.reload_listeners.append(collector.settle)  # The old runs are garbage.
    run_app(app, opened, started, ending=ending, hang_up=lambda: _reload(service, note))


def run_app(
    app: FastAPI,
    opened: socket.socket,
    started: Callable[[], object],
    *,
    ending: threading.Event | None = None,
    hang_up: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until SIGTERM, SIGINT or another reason to end, and finish those that wait; hang_up: SIGHUP."""
    collector.settle()
    take_short_turns()
    started()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        server_header=False,
        date_header=False,
    )
    server = _Server(config, hang_up)
    if ending is not None:
        threading.Thread(target=server.end_after, args=(ending,), name="ending", daemon=True).start()
    server.run(sockets=[opened])


def _reload(service: Service, note: Callable[[str], None]) -> None:
    """Read all runs again, and tell what came of it."""

    def done(found: Future[Answer]) -> None:
        note("the runs were read again" if found.exception() is None else f"{found.exception()}; the old runs go on")

    service.reload(None).add_done_callback(done)


class _Server(uvicorn.Server):
    """A server for which a signal is an order to finish, and no fault."""

    def __init__(self, config: uvicorn.Config, hang_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._hang_up = hang_up

    def end_after(self, ending: threading.Event) -> None:
        """Finish when an event is set."""
        ending.wait()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Finish on SIGINT and SIGTERM; uvicorn itself would raise them again at the end."""
        handlers: dict[int, Any] = dict.fromkeys((signal.SIGINT, signal.SIGTERM), self.handle_exit)
        handlers[signal.SIGHUP] = lambda *_: self._hang_up()
        kept = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)
