"""Server: the socket, the token and the process of a service; SIGTERM ends it after the last answer.

Not for: requests (app.py).
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import read_bytes
from shadow_gnn.serve.app import create_app
from shadow_gnn.serve.service import Service

TOKEN = "SHADOW_TOKEN"
"""Variable of the environment that may hold the token."""
_LEAST_TOKEN = 16
_DRAIN_SECONDS = 30


def read_token(path: Path | None, host: str) -> str | None:
    """Return the token from a file or the environment; one is demanded unless only this machine can call."""
    text = os.environ.get(TOKEN) if path is None else read_bytes(path, 10_000, RunError).decode(errors="replace")
    token = None if text is None else text.strip()
    if token is not None and (len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        owner = TOKEN if path is None else str(path)
        raise ValueError(f"serve: {owner} must hold a token of at least {_LEAST_TOKEN} printable ASCII characters")
    if token is None and not is_local(host):
        raise ValueError(
            f"serve: --token-file or {TOKEN} must be given to serve other machines than this one, got --host {host}"
        )
    return token


def is_local(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(1024)
    except OSError as error:
        raise ValueError(f"serve: --host and --port must be free, {host}:{port} is not: {error.strerror}") from None
    return opened


def run_server(service: Service, opened: socket.socket, token: str | None, started: Callable[[], None]) -> None:
    """Answer requests until SIGTERM or SIGINT; then take no more, finish those that wait, and close the log."""
    started()
    config = uvicorn.Config(
        create_app(service, token=token),
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        server_header=False,
        date_header=False,
    )
    _Server(config).run(sockets=[opened])


class _Server(uvicorn.Server):
    """A server for which a signal is an order to finish, and no fault."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Finish on SIGINT and SIGTERM; uvicorn itself would raise them again at the end."""
        kept = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)
