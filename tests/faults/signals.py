"""Ctrl-C and SIGTERM: every command of the app ends within two seconds, at any moment, without a traceback.

The calls into the core that would take minutes are in tests/core/interrupted.py.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import typer

from tests.communities import communities
from tests.faults.campaign import Campaign
from tests.faults.results import leftovers
from tests.faults.trials import ALLOWED, Ending, Trial, waited
from tests.faults.workplace import fresh

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}

# Each command with arguments that keep it busy for a second or more; names are those of the app.
BUSY = {
    "data import": "../place/edges.csv out --memory 64MB",
    "data append": "../place/large out --edges ../place/edges.csv",
    "data info": "../place/large",
    "data get": "--help",
    "data list": "",
    "data generate": "dcsbm --nodes 300000 --memory 64MB --out out",
    "data diffuse": "../place/large out --topk 32",
    "graph compact": "../place/large --out out",
    "extract": "../place/large --targets all",
    "draw": "../place/large 17 --plot out.png",
    "compare-extractors": "../place/large --targets 500",
    "learn-scope": "../place/recipe.toml --topk 5 --normal-epochs 500 --out out",
    "scope-curve": "../place/done",
    "init": "../place/graph --out out.toml",
    "train": "../place/recipe.toml --set training.num_epochs=500 --out out",
    "resume": "../place/done",
    "runs": "../place",
    "tune": "../place/recipe.toml --space ../place/space.toml --set training.num_epochs=100 --out out",
    "share": "--help",
    "memory": "../place/large --recipe ../place/recipe.toml",
    "evaluate": "../place/done",
    "predict": "../place/done --out out.csv",
    "explain": "../place/done --node 1 --node 2",
    "export": "../place/done out.pt2",
    "serve": "../place/done --port 0",
    "explore": "../place/graph --run ../place/done --no-open",
    "recommend": "../place/done --node 1",
    "correct": "../place/done --out out.csv",
    "ensemble": "../place/done ../place/done --out out.csv",
    "advise": "../place/graph --minutes 1 --out out",
    "baselines": "../place/large",
    "cost": "",
    "theory": "tau",
    "reproduce": "--help",
}


def commands() -> Iterator[str]:
    """Yield the names of all commands of the app, in the words of the command line."""
    from shadow_gnn.cli.main import app

    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        yield from (f"{name} {under}" for under in inner) if inner else (name,)


def signals(campaign: Campaign, root: Path) -> None:
    """Send each command 20 signals at random moments of its first two seconds, and some while Python starts."""
    assert sorted(commands()) == sorted(BUSY), set(commands()) ^ set(BUSY)
    _prepare(root)
    slowest = 0.0
    for name, share in campaign.chosen(BUSY):
        for number in campaign.trials(20, share):
            rng = random.Random(f"{campaign.seed} {name} {number}")
            sent = rng.choice(list(CODES))
            folder = fresh(root, "trial")
            trial = Trial([*name.split(), *BUSY[name].split()], folder)
            trial.signal_after(rng.uniform(0, 2), sent)
            ending = trial.ending()
            campaign.counts["signals"] += 1
            if ending.code == CODES[sent]:
                campaign.counts["answered"] += 1
                slowest = max(slowest, ending.seconds - ending.waited)
            campaign.check(f"{name}, {sent.name}", _fault(ending, sent), leftovers(folder, (".tmp",)))
    campaign.counts["ms for the slowest answer"] = round(1000 * slowest)
    for number in campaign.trials(20):
        _while_starting(campaign, root, random.Random(f"{campaign.seed} start {number}"))


def _fault(ending: Ending, sent: signal.Signals) -> str:
    """Return what is wrong with the end of an interrupted command, which may have ended before."""
    if ending.code != CODES[sent]:
        return ending.fault
    if "Traceback" in ending.err:
        return f"traceback: {ending.err[-300:]}"
    if ending.seconds - ending.waited > ALLOWED:
        return f"took {ending.seconds:.1f} s, of which it waited {ending.waited:.1f} s for a processor"
    return "left a process" if ending.left else ""


def _while_starting(campaign: Campaign, root: Path, rng: random.Random) -> None:
    """Interrupt a process of its own, also before it has imported anything."""
    folder = fresh(root, "trial")
    command = [sys.executable, "-m", "shadow_gnn", "predict", "../place/done", "--out", "out.csv"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": folder}
    with subprocess.Popen(command, env=dict(os.environ), **options) as process:  # type: ignore[call-overload]
        time.sleep(rng.uniform(0, 4))
        sent, begin = rng.choice(list(CODES)), time.monotonic() - waited(process.pid)
        process.send_signal(sent)
        with suppress(ChildProcessError):  # It had ended before the signal.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.monotonic() - waited(process.pid) - begin
        _, err = process.communicate(timeout=60)
    campaign.counts["while starting"] += 1
    # Until our own code runs, Python or the system ends the process.
    fine = process.returncode in (0, CODES[sent], -sent) and "shadow_gnn" not in err
    late = f"{seconds:.1f} s" if process.returncode != 0 and seconds > ALLOWED else ""
    campaign.check(f"start, {sent.name}", late, "" if fine else f"exit code {process.returncode}: {err[-300:]}")


def _prepare(root: Path) -> None:
    """Make a graph on which commands take seconds."""
    from shadow_gnn.graph.store import save_graph

    if not (root / "place" / "large").exists():
        save_graph(communities(num_nodes=30_000), root / "place" / "large")
