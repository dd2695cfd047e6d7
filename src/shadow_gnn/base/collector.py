"""Collector: keep Python's garbage collector away from what a process that answers requests has loaded.

Not for: the library itself. The setting changes the whole process, so only our commands use it.
"""

from __future__ import annotations

import gc


def pause() -> None:
    """Collect no garbage while a process loads what it keeps; `settle` ends this."""
    gc.disable()


def settle() -> None:
    """Collect garbage once, and leave everything that remains out of later collections.

    A full collection looks at every object of every loaded library, and nothing else runs meanwhile: for a tenth of a
    second and more. Call it when everything is loaded, and again when large parts were replaced.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.enable()
