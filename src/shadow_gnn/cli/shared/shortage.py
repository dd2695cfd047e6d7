"""Shortage: how an end for want of memory is told from other faults, and what each subcommand can do with less.

Not for: how much a run needs, which is said before it begins (memory/).
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

# torch has no class of its own for it in main memory; the C++ libraries below it have their own words.
_WORDS = ("can't allocate memory", "not enough memory", "std::bad_alloc", "can't start new thread", "out of memory")
_RUN = "lower training.batch_size, training.cache_megabytes or model.hidden_dim; shadow memory shows what a run takes"
_ADVICE = {
    "train": _RUN,
    "resume": f"with a new run, {_RUN}",
    "tune": _RUN,
    "learn-scope": _RUN,
    "predict": "end other programs, or predict with several processes on several machines",
    "extract": "lower --topk, --num-hops or --threads",
    "data": "give a smaller --memory, or --memory itself, to build on the disk",
}
_ELSE = "end other programs, or take a machine with more memory"


def shortage_line(error: BaseException, arguments: Sequence[str]) -> str | None:
    """Return the line for a fault that is a want of memory, with what to lower; None for any other fault.

    arguments: of the command, the subcommand among them.
    """
    if not _is_shortage(error):
        return None
    name = next((argument for argument in arguments if not argument.startswith("-")), "shadow")
    reason = " ".join(str(error).split())
    # Python says nothing, NumPy how much was asked for, torch where in its source it was.
    said = f" ({reason[reason.find('you tried to') if 'you tried to' in reason else 0 :]})" if reason else ""
    return f"{name}: not enough memory{said}; {_ADVICE.get(name, _ELSE)}"


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, RuntimeError) and any(word in str(error).lower() for word in _WORDS)
