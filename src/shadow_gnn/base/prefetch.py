"""Prefetch: run an iterator ahead of its consumer, in a background thread.

Not for: more than one producer; the order of items is kept.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from queue import SimpleQueue
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class _Producer(threading.Thread):
    """A thread that can be stopped in the middle of a long call into the compiled core, which looks at `stopping`."""

    stopping: threading.Event


class _Shared(Generic[T]):
    """State shared by consumer and thread; a thread that held the consumer itself would never let it be freed."""

    def __init__(self, items: Iterator[T], depth: int) -> None:
        self.items = items
        self.slots = threading.Semaphore(depth)
        self.done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        self.stop = threading.Event()
        # A daemon: a consumer that still waits at exit must not keep the process alive. finalize ends it before that.
        self.thread = _Producer(target=self.produce, name="shadow-prefetch", daemon=True)
        self.thread.stopping = self.stop

    def produce(self) -> None:
        """Make one item for each free slot until the items or the consumer end."""
        try:
            while True:
                self.slots.acquire()
                if self.stop.is_set():
                    return
                self.done.put((next(self.items), None))
        except BaseException as error:  # Passed on to the consumer, StopIteration too.
            self.done.put((None, error))

    def end(self) -> None:
        """Stop the thread, at once in the core and elsewhere after its current item, and wait for it."""
        self.stop.set()
        self.slots.release()
        if self.thread.is_alive() and self.thread is not threading.current_thread():
            self.thread.join()


class Prefetch(Generic[T]):
    """An iterator whose next `depth` items are made while the consumer works on the current one.

    The thread ends after the last item, after an error (raised unchanged in the consumer), on close, or when the
    iterator is dropped, as when a loop is left early.
    """

    def __init__(self, items: Iterator[T], depth: int) -> None:
        """Start the thread."""
        self._shared = _Shared(items, depth)
        self._finalizer = weakref.finalize(self, self._shared.end)
        self._shared.thread.start()

    def __iter__(self) -> Prefetch[T]:
        return self

    def __next__(self) -> T:
        if not self._finalizer.alive:
            raise StopIteration
        try:
            item, error = self._shared.done.get()
            if error is not None:
                raise error
        except BaseException:
            self.close()
            raise
        finally:
            error = None  # The error refers to this frame: with a reference back, the cycle would keep the items.
        self._shared.slots.release()
        return item  # type: ignore[return-value]

    def __enter__(self) -> Prefetch[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the thread now; the iterator gives nothing more."""
        self._finalizer()
