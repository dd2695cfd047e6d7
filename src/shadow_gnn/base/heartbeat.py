"""Heartbeat: a sign of life of every rank; if one ends, the others can say which.

Not for: the joint work of ranks (ranks.py), nor for printing (cli/shared/ranks.py).
"""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

_BEAT_SECONDS = 0.5
_SILENT_SECONDS = 3.0
_STORE_SECONDS = 5


@dataclass(frozen=True)
class Ended:
    """Other ranks that have ended or are about to end."""

    lost: dict[int, str]
    """Where each rank ran that ended without a message."""
    words: dict[int, str]
    """Last message of each rank that ended with one."""


class Heartbeat:
    """Tells the other ranks that this one is alive, in a thread, through torchrun's store.

    The store is in torchrun's own process on the first machine, so it outlives every rank.
    """

    def __init__(self) -> None:
        """Start the thread; only for processes started by torchrun."""
        self.rank, self.num_ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self._store = _open_store()
        self._store.set(_key("place", self.rank), f"process {os.getpid()} on {socket.gethostname()}")
        self._stop = threading.Event()
        # A daemon: it must not keep a process alive that ends without close.
        self._thread = threading.Thread(target=self._beat, name="shadow-heartbeat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        self._thread.join()

    def tell(self, word: str) -> None:
        """Tell the others that this rank is about to end, and why."""
        self._store.set(_key("word", self.rank), word)

    def words(self) -> dict[int, str]:
        """Return the last messages of other ranks."""
        found = {rank: self._read("word", rank) for rank in self._others}
        return {rank: word for rank, word in found.items() if word is not None}

    def find_ended(self) -> Ended:
        """Watch the silent ranks for a few seconds and return those that have ended.

        Raises RuntimeError, as torch does, if the store cannot be reached: torchrun itself has then ended.
        """
        heard = {rank: self._read("beat", rank) for rank in self._others}
        since, beats = dict.fromkeys(self._others, time.monotonic()), dict.fromkeys(self._others, 0)
        words: dict[int, str] = {}

        def unsure(rank: int) -> bool:
            # One beat may have been on its way when its rank ended: only a second one proves that it is alive.
            return rank not in words and beats[rank] < 2 and time.monotonic() - since[rank] < _SILENT_SECONDS

        while watched := [rank for rank in self._others if unsure(rank)]:
            time.sleep(_BEAT_SECONDS / 5)
            words = self.words()
            for rank in watched:
                beat = self._read("beat", rank)
                if beat != heard[rank]:
                    heard[rank], since[rank], beats[rank] = beat, time.monotonic(), beats[rank] + 1
        words = self.words()
        silent = [rank for rank in self._others if beats[rank] < 2 and rank not in words]
        return Ended({rank: self._read("place", rank) or "not started" for rank in silent}, words)

    @property
    def _others(self) -> list[int]:
        return [rank for rank in range(self.num_ranks) if rank != self.rank]

    def _beat(self) -> None:
        count = 0
        while not self._stop.wait(_BEAT_SECONDS):
            count += 1
            try:
                self._store.set(_key("beat", self.rank), str(count))
            except RuntimeError:
                return  # torchrun has ended, and this process is about to.

    def _read(self, name: str, rank: int) -> str | None:
        key = _key(name, rank)
        return self._store.get(key).decode() if self._store.check([key]) else None


def _open_store() -> Any:
    """Connect to torchrun's store with a prefix for this start, so that a restart sees no old keys."""
    from torch._C._distributed_c10d import PrefixStore, TCPStore

    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = TCPStore(address, port, is_master=False, timeout=timedelta(seconds=_STORE_SECONDS))
    return PrefixStore(f"shadow-{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def _key(name: str, rank: int) -> str:
    return f"{name}/{rank}"
