"""Channel: messages between the writer's process and a worker, as lines of JSON over a pair of sockets.

Not for: what the messages mean (hub.py, worker.py).
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Message = dict[str, Any]


class Channel:
    """One end of a pair of sockets; messages arrive in the order in which they were sent."""

    def __init__(self, end: socket.socket) -> None:
        """Take over an end; nothing is read before `listen`."""
        self._socket, self._sending = end, threading.Lock()

    def send(self, message: Message) -> bool:
        """Send a message; return False if the other end is gone."""
        data = json.dumps(message).encode() + b"\n"
        try:
            with self._sending:
                self._socket.sendall(data)
        except OSError:
            return False
        return True

    def listen(self, handle: Callable[[Message], None], ended: Callable[[], None]) -> None:
        """Handle messages in a thread until the other end is gone."""

        def run() -> None:
            try:
                with suppress(OSError), self._socket.makefile("rb") as lines:  # The other end may be killed.
                    for line in lines:
                        handle(json.loads(line))
            finally:
                ended()

        threading.Thread(target=run, name="channel", daemon=True).start()

    def close(self) -> None:
        """End the channel, for the other end too."""
        with suppress(OSError):  # The other end is gone already.
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
