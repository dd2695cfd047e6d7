"""Ranks on the command line: the processes of torchrun act as one command and print one message.

Not for: the work that they share (base/ranks.py, training/runs/run.py, inference/write_predictions.py).
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from shadow_gnn.base.errors import RankError, RecipeError, ShadowError

if TYPE_CHECKING:
    from shadow_gnn.base.heartbeat import Ended, Heartbeat
    from shadow_gnn.base.ranks import Ranks

_SHARED = ("train", "resume", "predict")
_FAULT, _STOPPED = "fault", "stopped"
_AGREE_SECONDS = 1.5
_HEARING_SECONDS = 10.0
_OWN_FAULTS = (ShadowError, ValueError, OSError, MemoryError)
"""Faults that a rank finds by itself; any other error may be caused by the end of another rank."""


def check_command(name: str | None) -> None:
    """Raise if a command that must run alone was started as one of several processes."""
    if are_several() and name is not None and name not in _SHARED:
        count = os.environ["WORLD_SIZE"]
        raise ValueError(f"{name}: must run as one process, got {count}; only {', '.join(_SHARED)} share their work")


@contextmanager
def joined_ranks(run: Path | None = None) -> Iterator[Ranks]:
    """Join the processes of torchrun, if there are several; when one ends early, all end and one prints the reason.

    run: the folder to resume from; None if the same command resumes.
    """
    from shadow_gnn.base.ranks import ALONE, join_ranks, leave_ranks

    if not are_several():
        yield ALONE
        return
    from shadow_gnn.base.heartbeat import Heartbeat

    ranks = join_ranks()
    again = "run the same command again"
    advice = again if run is None else f"finished work is saved, resume with torchrun ... -m shadow_gnn resume {run}"
    heartbeat = Heartbeat()
    try:
        with _Spokesman(heartbeat, advice) as spokesman:
            try:
                try:
                    yield ranks
                    leave_ranks()
                    return
                except BaseException as error:
                    reason = _without_signals(error, spokesman)
            except BaseException as error:  # A signal that arrived before it was ignored; there is no second one.
                reason = _without_signals(error, spokesman)
        _end(reason, heartbeat, advice)
    finally:
        heartbeat.close()


def are_several() -> bool:
    """Tell whether this process is one of several that torchrun has started, of which one prints a fault."""
    return os.environ.get("WORLD_SIZE", "1") != "1"


def _without_signals(error: BaseException, spokesman: _Spokesman) -> BaseException:
    """Return the error, or the signal that followed it: torchrun ends all ranks as soon as one has ended.

    Half a minute is then left to print the reason. The handler raises once, so no further signal follows.
    """
    try:
        spokesman.hush()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except BaseException as later:
        spokesman.hush()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return later
    return error


class _Spokesman:
    """Speaks for a rank whose main thread waits inside a library for a dead rank and misses SIGTERM.

    Python runs a handler only when the main thread is back in Python; torchrun kills after half a minute.
    """

    def __init__(self, heartbeat: Heartbeat, advice: str) -> None:
        self._heartbeat, self._advice = heartbeat, advice
        self._hushed = threading.Event()
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        # A daemon: it must not keep the process alive.
        self._thread = threading.Thread(target=self._listen, name="shadow-spokesman", daemon=True)

    def __enter__(self) -> _Spokesman:
        # The system's handler writes the number of each signal here, whatever the main thread does.
        signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self.hush()
        signal.set_wakeup_fd(-1)
        self._mouth.close()
        self._thread.join()
        self._ear.close()

    def hush(self) -> None:
        """Leave the message to the main thread."""
        self._hushed.set()

    def _listen(self) -> None:
        heard = b""
        while signal.SIGTERM not in heard:
            heard = self._ear.recv(64)
            if not heard:
                return
        if not self._hushed.wait(_HEARING_SECONDS):
            try:
                _end(_Unheard(), self._heartbeat, self._advice)
            except RankError as error:
                _say(str(error), 2)
            except BaseException:
                _say("terminated", 143)


class _Unheard(BaseException):
    """SIGTERM that the main thread has missed."""


def _say(text: str, code: int) -> NoReturn:
    print(f"shadow: {text}", file=sys.stderr, flush=True)
    _leave(code)


def _end(error: BaseException, heartbeat: Heartbeat, advice: str) -> NoReturn:
    """Raise the message of this rank; end silently if another rank prints it."""
    stopped = not isinstance(error, Exception)
    try:
        if isinstance(error, _OWN_FAULTS):
            _end_with_fault(error, heartbeat)
        if stopped:
            heartbeat.tell(_STOPPED)
        ended = heartbeat.find_ended()
    except RuntimeError as unreachable:
        raise RankError(f"ranks: torchrun can no longer be reached; {advice}") from unreachable
    if _FAULT in ended.words.values():
        _leave(2)
    gone = ended.lost if stopped else _gone(ended)
    if not gone:
        _end_alone(error, heartbeat, stopped=stopped)
    if heartbeat.rank != min(set(range(heartbeat.num_ranks)) - set(gone)):
        _leave(2)
    which = ", ".join(f"rank {rank} of {heartbeat.num_ranks} ({place})" for rank, place in sorted(gone.items()))
    raise RankError(f"ranks: {which} has died, so all others end too; {advice}") from error


def _gone(ended: Ended) -> dict[int, str]:
    """Return the ranks that died or were stopped, with their place or the cause."""
    return {**dict.fromkeys(ended.words, "stopped by a signal"), **ended.lost}


def _end_alone(error: BaseException, heartbeat: Heartbeat, *, stopped: bool) -> NoReturn:
    """Raise an error that no other rank has caused; a signal to all ranks is reported by the main one."""
    if not stopped:
        heartbeat.tell(_FAULT)
    elif heartbeat.rank:
        _leave(143)
    raise error


def _end_with_fault(error: BaseException, heartbeat: Heartbeat) -> NoReturn:
    """Raise a fault of this rank with its number; end silently if a lower rank has one at the same time."""
    heartbeat.tell(_FAULT)
    if heartbeat.rank == 0:
        raise error
    time.sleep(_AGREE_SECONDS)
    words = heartbeat.words()
    if any(words.get(rank) == _FAULT for rank in range(heartbeat.rank)):
        _leave(2)
    text = "; ".join(error.faults) if isinstance(error, RecipeError) else str(error)
    raise RankError(f"rank {heartbeat.rank}: {text}") from error


def _leave(code: int) -> NoReturn:
    """End silently and at once: a connection to a dead rank can block the interpreter at exit."""
    os._exit(code)
