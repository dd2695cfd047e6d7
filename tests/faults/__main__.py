"""Run the fault campaigns: `python -m tests.faults [--only NAME] [--count N] [--seconds S] [--seed N]`.

Prints one line for each campaign, and a line for each fault; the exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults import injection
from tests.faults.campaign import Campaign


def campaigns() -> dict[str, Callable[[Campaign, Path], None]]:
    """Return the campaigns by name; importing them costs seconds."""
    from tests.faults.chains import chains
    from tests.faults.clock import clock
    from tests.faults.cuts import cuts
    from tests.faults.disk import disk
    from tests.faults.equal import equal
    from tests.faults.growth import growth
    from tests.faults.kills import kills
    from tests.faults.limits import limits
    from tests.faults.serve import serve
    from tests.faults.signals import signals

    found = (
        kills,
        chains,
        disk,
        cuts,
        limits,
        clock,
        signals,
        serve,
        equal,
        growth,
    )  # The last two have threads: no forks.
    return {run.__name__: run for run in found}


NAMES = ("kills", "chains", "disk", "cuts", "limits", "clock", "signals", "serve", "equal", "growth")


def main() -> None:
    """Run the chosen campaigns."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Run the fault campaigns.")
    parser.add_argument("--only", choices=NAMES, action="append", help="A campaign; can be repeated. Default: all.")
    parser.add_argument("--count", type=int, help="Trials of each kind. Default: the full figure of the campaign.")
    parser.add_argument("--seconds", type=float, help="Time of each campaign.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed of the moments and values.")
    parser.add_argument("--job", action="append", default=[], help="A command to try; can be repeated. Default: all.")
    options = parser.parse_args()
    injection.restart_with_injector("tests.faults")
    injection.remove_injector()

    from tests.faults.warm import import_everything
    from tests.faults.workplace import workplace

    import_everything()
    _hear_signals()
    num_faults = 0
    with workplace() as root:
        for name, run in campaigns().items():
            if options.only and name not in options.only:
                continue
            campaign = Campaign(options.count, options.seconds, options.seed, tuple(options.job))
            ended: BaseException | None = None
            try:
                run(campaign, root)
            except BaseException as error:  # What was found until then is told.
                ended = error
            counts = ", ".join(f"{number:,} {what}" for what, number in campaign.counts.items())
            seconds = time.monotonic() - campaign.begin
            print(f"{name}: {counts}; {len(campaign.faults)} faults; {seconds:.0f} s", flush=True)
            for fault in campaign.faults:
                print(f"  {fault}", flush=True)
            num_faults += len(campaign.faults)
            if isinstance(ended, KeyboardInterrupt):
                sys.exit(130)
            if ended is not None:
                raise ended
    sys.exit(1 if num_faults else 0)


def _hear_signals() -> None:
    """Let an interrupted campaign still tell what it has found; its worker processes just end."""
    owner = os.getpid()

    def stop(number: int, frame: object) -> None:
        if os.getpid() != owner:
            os._exit(128 + number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


if __name__ == "__main__":
    main()
