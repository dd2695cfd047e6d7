"""Shortage: recognizes a lack of memory among other faults, and advises each command on how to use less.

Not for: the memory that a run needs, which is checked before it begins (training/footprint.py).
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

# torch has no exception class for a lack of main memory; C++ libraries have their own words.
_WORDS = (
    "can't allocate memory",
    "not enough memory",
    "std::bad_alloc",
    "can't start new thread",
    "out of memory",
    "failed to launch worker thread",
)
_RUN = (
    "lower training.batch_size, training.cache_megabytes or model.hidden_dim; shadow memory shows the memory of a run"
)
_ADVICE = {
    "train": _RUN,
    "resume": f"start a new run: {_RUN}",
    "tune": _RUN,
    "learn-scope": _RUN,
    "predict": "close other programs, or predict with several processes on several machines",
    "extract": "lower --topk, --num-hops or --threads",
    "data": "use --memory, or a smaller value of it, to build on disk",
}
_ELSE = "close other programs, or use a machine with more memory"


def shortage_line(error: BaseException, arguments: Sequence[str]) -> str | None:
    """Return the line for a lack of memory, with advice; None for any other fault.

    arguments: the words of the command line.
    """
    if not _is_shortage(error):
        return None
    name = next((argument for argument in arguments if not argument.startswith("-")), "shadow")
    reason = " ".join(str(error).split())
    # Python gives no reason, NumPy the size it asked for, torch also a place in its source.
    said = f" ({reason[reason.find('you tried to') if 'you tried to' in reason else 0 :]})" if reason else ""
    return f"{name}: not enough memory{said}; {_ADVICE.get(name, _ELSE)}"


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    foreign = isinstance(error, RuntimeError) or type(error).__module__.startswith("pyarrow.")
    return foreign and any(word in str(error).lower() for word in _WORDS)
