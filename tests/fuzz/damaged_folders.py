"""Damaged graph folders, opened and used: each is refused with a named error, or gives the results of the sound one.

    python -m tests.fuzz.damaged_folders --folders 1000 --seed 0

Folder n depends on (seed, n) alone, so `--first n --folders 1` repeats it. With --no-check the checksums of blocks are
not compared, and folders that give other results are only counted.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from tests.communities import communities
from tests.fuzz.damage import damage
from tests.fuzz.graph_uses import use_folder
from tests.graph.test_store import full_graph
from tests.watched import FAULT, watch

from shadow_gnn.base.errors import ShadowError
from shadow_gnn.graph.record import Graph, SparseFeatures
from shadow_gnn.graph.store import save_graph
from shadow_gnn.graph.verify import verify_graph

LIMIT = 2.0
"""Seconds that any folder may take."""


def graphs() -> list[Graph]:
    """Return the sound graphs: with everything that a graph can have, and such that models can learn."""
    learnable = communities(40)
    ones = np.ones(40, np.float32)
    sparse = replace(learnable, x=SparseFeatures(np.arange(41), np.arange(40, dtype=np.int32) % 7, ones, 7))
    return [full_graph(), full_graph(sparse=True), learnable, sparse]


def try_folder(seed: int, number: int, sound: list[tuple[Path, str]], place: Path, *, check: bool) -> tuple[str, str]:
    """Damage a copy of a folder and use it; return the kind of its end and a description of the damage."""
    rng = random.Random(f"{seed} {number}")
    source, expected = rng.choice(sound)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)
    what = damage(rng, place)
    try:
        found = use_folder(place, check=check)
    except (ShadowError, ValueError, OSError) as error:
        return f"refused ({type(error).__name__})", what
    if found == expected:
        return "equal results", what
    try:
        verify_graph(place)
    except ShadowError:
        return "other results, found by --verify", what
    return "other results, not found by --verify", what


def work(seed: int, check: bool, seconds: float, numbers: range, tell: Callable[[int], None]) -> int:
    """Try folders one after the other; return an exit code."""
    ends: Counter[str] = Counter()
    slowest, stop = 0.0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        sound = []
        for number, graph in enumerate(graphs()):
            save_graph(graph, Path(folder) / f"sound-{number}")
            sound.append((Path(folder) / f"sound-{number}", use_folder(Path(folder) / f"sound-{number}")))
        for number in numbers:
            tell(number)
            begin = time.process_time()
            try:
                end, what = try_folder(seed, number, sound, Path(folder) / "damaged", check=check)
            except BaseException:
                print(f"seed {seed}, folder {number}:", file=sys.stderr)
                traceback.print_exc()
                return FAULT
            ends[end] += 1
            slowest = max(slowest, time.process_time() - begin)
            if slowest > LIMIT or (check and end.startswith("other")) or end.endswith("not found by --verify"):
                print(f"seed {seed}, folder {number}: {what}: {end}, {slowest:.1f} s", file=sys.stderr)
                return FAULT
            if time.monotonic() > stop:
                break
    print(f"{ends.total():,} damaged folders of seed {seed}: ", end="")
    print(", ".join(f"{end} {count:,}" for end, count in ends.most_common()), f"; the slowest took {slowest:.2f} s")
    return 0


def main() -> None:
    """Try folders in a watched process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folders", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--no-check", action="store_true")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.folders)
    trial = partial(work, options.seed, not options.no_check, options.seconds)
    sys.exit(watch(f"seed {options.seed}, folder", numbers, trial))


if __name__ == "__main__":
    main()
