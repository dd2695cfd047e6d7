"""LostSignals: raise a signal again whose exception Python has ignored.

Python ignores exceptions in finalizers and in callbacks of weak references. Libraries such as SQLAlchemy have many of
them, and a Ctrl-C in one of them would be lost.
Not for: the lines and exit codes of signals (main.py).
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from typing import Any

SECONDS = 0.01
"""Time after which the signal comes again: the finalizer has ended by then."""


def raise_lost_again(signals: Mapping[type[BaseException], int]) -> None:
    """Send a signal again if its exception is ignored. signals: the signal of each exception, with its handler set."""
    handlers = {number: signal.getsignal(number) for number in signals.values()}

    def ignored(what: Any) -> None:
        number = next((number for kind, number in signals.items() if issubclass(what.exc_type, kind)), None)
        if number is None:
            sys.__unraisablehook__(what)
            return
        import _thread
        import threading

        signal.signal(number, handlers[number])  # A handler may have been set aside by the first one.
        again = threading.Timer(SECONDS, _thread.interrupt_main, (number,))
        again.daemon = True
        again.start()

    sys.unraisablehook = ignored
