"""SIGKILL of a service under load: every answered update is there after the restart, and none is there twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults import injection
from tests.faults.callers import Caller, Nodes, added_nodes, call_all
from tests.faults.campaign import Campaign
from tests.faults.kills import EVERY_KIND
from tests.faults.results import leftovers
from tests.faults.trials import Trial, run
from tests.faults.warm import import_told, tell_modules
from tests.faults.workplace import fresh

ARGV = ("serve", "../place/done", "--graph", "graph", "--updates", "log", "--port", "0", "--json")
COMPACT = ("graph", "compact", "graph", "--updates", "log")
NUM_CALLERS = 3


def serve(campaign: Campaign, root: Path) -> None:
    """Kill a service 200 times, half by the clock and half at a file operation; after each tenth, fold its log in."""
    folder = fresh(root, "trial")
    shutil.copytree(root / "place" / "graph", folder / "graph")
    num_stored = _start_once(root, folder)
    callers = [Caller(number, random.Random(f"{campaign.seed} {number}"), num_stored) for number in range(NUM_CALLERS)]
    for number in campaign.trials(200):
        rng = random.Random(f"{campaign.seed} serve {number}")
        by_clock = number % 2 == 0 or not injection.is_there()
        where = f"serve, kill {number}, {'by the clock' if by_clock else 'at a file operation'}"
        fault = _kill(campaign, root, folder, callers, rng, by_clock=by_clock)
        campaign.check(where, fault, _compare(root, folder, callers))
        if number % 10 == 9:
            campaign.check(where, _compact(campaign, root, folder, rng), _compare(root, folder, callers))
    campaign.counts["updates answered"] = sum(caller.num_answered for caller in callers)


def _start_once(root: Path, folder: Path) -> int:
    """Start and end a service, import here what it has imported, and return the nodes of its graph."""
    import httpx  # noqa: F401

    from shadow_gnn.graph.store import open_graph

    told = root / "modules"
    trial = Trial(ARGV, folder, partial(tell_modules, told))
    assert trial.says("}\n").endswith("}\n")
    trial.signal_after(0.5, signal.SIGTERM)
    ending = trial.ending()
    assert ending.code == 0, ending
    import_told(told)
    return open_graph(folder / "graph").num_nodes


def _kill(
    campaign: Campaign, root: Path, folder: Path, callers: list[Caller], rng: random.Random, *, by_clock: bool
) -> str:
    """Start the service, let the callers call it, kill it; return what is wrong with its start or its end."""
    at = rng.randrange(1, 300)
    arm = partial(injection.arm, folder, EVERY_KIND, at, 0, injection.KILL)
    trial = Trial(ARGV, folder, (lambda: None) if by_clock else arm)
    said = trial.says("}\n")
    if said.endswith("}\n"):
        facts = json.loads(said)
        least = sum(caller.num_answered for caller in callers)
        if not least <= facts["version"] <= least + len(callers):
            trial.signal_after(0)
            return f"version {facts['version']} after {least} answered updates; {trial.ending().err[-300:]}"
        kill = partial(os.kill, trial.pid, signal.SIGKILL)
        answered = asyncio.run(call_all(facts["url"], callers, rng.uniform(0, 0.6), kill if by_clock else None))
        campaign.counts["predictions"] += answered
    ending = trial.ending()
    campaign.counts["kills"] += ending.code == -signal.SIGKILL
    if ending.left:
        return "left a process"
    # A note may tell that the last update was not finished.
    fine = ending.code == -signal.SIGKILL and "Traceback" not in ending.err
    return "" if fine else f"exit code {ending.code}: {ending.err[-300:]}"


def _compare(root: Path, folder: Path, callers: list[Caller]) -> str:
    """Read graph and log as a restart would; return what is lost, double or different."""
    from shadow_gnn.graph.changes.live_graph import LiveGraph
    from shadow_gnn.graph.store import open_graph

    copy = root / "copy"  # To open a log changes it.
    shutil.copytree(folder, copy)
    try:
        live: Any = LiveGraph(open_graph(copy / "graph"), copy / "log")
        rows = list(added_nodes(live, callers[0].num_stored))
        live.close()
    finally:
        shutil.rmtree(copy)
    found: Nodes = dict(rows)
    if len(found) != len(rows):
        return "a node is there twice"
    for caller in callers:
        if fault := caller.fault(found):
            return fault
    num_made = sum(caller.num_answered + caller.was_made(found) for caller in callers)
    return "" if live.version == num_made else f"version {live.version} after {num_made} updates"


def _compact(campaign: Campaign, root: Path, folder: Path, rng: random.Random) -> str:
    """Kill a compaction, then compact."""
    if injection.is_there():
        arm = partial(injection.arm, root, EVERY_KIND, rng.randrange(1, 140), 0, injection.KILL)
        campaign.counts["kills of compactions"] += run(COMPACT, folder, arm).code == -signal.SIGKILL
    ending = run(COMPACT, folder)
    return ending.fault or ending.err or leftovers(folder)
