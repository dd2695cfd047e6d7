"""Ranks: the processes that train or predict together, and their messages.

Not for: gradients, which Fabric's strategy averages, nor for finding the rank that has died (heartbeat.py).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

_RELEASE_SECONDS = 0.2


@dataclass(frozen=True)
class Ranks:
    """This process among those that work together; by default the only one.

    Every rank must call each method that communicates, in the same order.
    """

    rank: int = 0
    """Number of this process, from 0; only rank 0, the main one, writes files."""
    num_ranks: int = 1
    """Processes in all."""
    num_local: int = 1
    """Processes on this machine, which share its memory and cores."""

    @property
    def is_main(self) -> bool:
        """Whether this is the main rank."""
        return self.rank == 0

    @property
    def alone(self) -> bool:
        """Whether there are no others."""
        return self.num_ranks == 1

    def from_main(self, value: Any) -> Any:
        """Return the main rank's value (JSON) on all ranks; the argument of the others is ignored."""
        if self.alone:
            return value
        data = json.dumps(value).encode() if self.is_main else b""
        size = torch.tensor([len(data)])
        torch.distributed.broadcast(size, 0)
        blob = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else _blank(int(size))
        torch.distributed.broadcast(blob, 0)
        return value if self.is_main else json.loads(_bytes(blob))

    def tensors_from_main(self, tensors: Mapping[str, Tensor] | None) -> dict[str, Tensor]:
        """Return the main rank's tensors, in main memory, on all ranks; others may give None."""
        own = {name: tensor.detach().cpu().contiguous() for name, tensor in (tensors or {}).items()}
        kinds = self.from_main({name: _kind(tensor) for name, tensor in own.items()})
        if not self.is_main:
            own = {name: _empty(kind) for name, kind in kinds.items()}
        if not self.alone:
            for tensor in own.values():
                torch.distributed.broadcast(_as_bytes(tensor), 0)
        return own

    def total(self, tensor: Tensor) -> Tensor:
        """Return the sum of all ranks' tensors, of equal shapes, on each rank."""
        if self.alone:
            return tensor
        total = tensor.detach().cpu().clone()
        torch.distributed.all_reduce(total)
        return total.to(tensor.device)

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Return the tensors of all ranks, of any length, on the main rank; nothing on the others."""
        if not self.is_main:
            self.send_to_main((tensor,))
            return []
        others = (self.receive(rank)[0] for rank in range(1, self.num_ranks))
        return [tensor, *(other for other in others if other is not None)]

    def send_to_main(self, tensors: Sequence[Tensor | None]) -> None:
        """Send tensors of any kind to the main rank, which must call receive; wait until they are sent."""
        own = [None if tensor is None else tensor.detach().cpu().contiguous() for tensor in tensors]
        data = json.dumps([None if tensor is None else _kind(tensor) for tensor in own]).encode()
        torch.distributed.send(torch.tensor([len(data)]), 0)
        torch.distributed.send(torch.frombuffer(bytearray(data), dtype=torch.uint8), 0)
        for tensor in own:
            if tensor is not None:
                torch.distributed.send(_as_bytes(tensor), 0)

    def receive(self, rank: int) -> list[Tensor | None]:
        """Receive the tensors of another rank, as the main rank."""
        size = torch.zeros(1, dtype=torch.int64)
        torch.distributed.recv(size, rank)
        blob = _blank(int(size))
        torch.distributed.recv(blob, rank)
        own = [None if kind is None else _empty(kind) for kind in json.loads(_bytes(blob))]
        for tensor in own:
            if tensor is not None:
                torch.distributed.recv(_as_bytes(tensor), rank)
        return own


class Patience:
    """Keeps the other ranks waiting while the main one works alone; without a word for half an hour they would end."""

    def __init__(self, ranks: Ranks, seconds: float = 60.0) -> None:
        """Contact them at most once in this many seconds."""
        self._ranks, self._seconds, self._last = ranks, seconds, time.monotonic()

    def beg(self) -> None:
        """Ask them to keep waiting; call it from time to time."""
        if not self._ranks.alone and time.monotonic() - self._last > self._seconds:
            self._ranks.from_main([True, None])
            self._last = time.monotonic()

    def end(self, value: Any = None) -> None:
        """Let them continue, with a value (JSON)."""
        self._ranks.from_main([False, value])


def wait_for_main(ranks: Ranks) -> Any:
    """Wait, as another rank, until the main one ends its Patience; return its value."""
    while (found := ranks.from_main(None))[0]:
        pass
    return found[1]


ALONE = Ranks()
"""A process without others."""


def join_ranks() -> Ranks:
    """Join the processes that torchrun has started; return ALONE without it. May be called repeatedly.

    Tensors in main memory go through gloo, those of a CUDA device through nccl.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return ALONE
    if not torch.distributed.is_torchelastic_launched():
        count = os.environ["WORLD_SIZE"]
        raise ValueError(f"ranks: several processes must be started by torchrun, got WORLD_SIZE={count} without it")
    if not torch.distributed.is_initialized():
        several = torch.cuda.is_available() and torch.distributed.is_nccl_available()
        torch.distributed.init_process_group("cpu:gloo,cuda:nccl" if several else "gloo")
    num_local = int(os.environ["LOCAL_WORLD_SIZE"])
    return Ranks(torch.distributed.get_rank(), torch.distributed.get_world_size(), num_local)


def leave_ranks() -> None:
    """Close the connection to the other ranks, after their last message."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.all_reduce(torch.zeros(1))
        torch.distributed.destroy_process_group()
        # A thread of gloo needs the interpreter to free the tensors of a collective after it is done, and aborts the
        # process if the interpreter has ended. DDP never frees the group, so that nothing joins that thread.
        time.sleep(_RELEASE_SECONDS)


def _kind(tensor: Tensor) -> list[Any]:
    return [str(tensor.dtype).removeprefix("torch."), *tensor.shape]


def _empty(kind: Sequence[Any]) -> Tensor:
    return torch.empty(tuple(kind[1:]), dtype=getattr(torch, kind[0]))


def _as_bytes(tensor: Tensor) -> Tensor:
    """Return the memory of a contiguous tensor."""
    return tensor.reshape(-1).view(torch.uint8)


def _blank(size: int) -> Tensor:
    return torch.empty(size, dtype=torch.uint8)


def _bytes(blob: Tensor) -> bytes:
    return blob.numpy().tobytes()
