"""Comparison: normal GNNs beside shaDow on six graphs, five models, two depths, five seeds: docs/comparison.md.

Not for: the single runs (study.py). Interrupted, it goes on where it stopped; --part lets several processes share it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from study import SIZES, work

from shadow_gnn.allocator import keep_freed_memory


def main() -> None:
    keep_freed_memory()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_DATA", "../shared/data")))
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--part", default="1/1", help="which share of the runs this process does, such as 2/3")
    chosen = parser.parse_args()
    part, num_parts = map(int, chosen.part.split("/"))
    work(chosen.only, part - 1, num_parts, chosen.data)


if __name__ == "__main__":
    main()
