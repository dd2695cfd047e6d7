"""Damage to a graph folder as disks, copies and people cause it: bits, cuts, swapped or missing files, wrong counts."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from tests.attacks.signed import sign

KINDS = ("flip", "flip", "flip", "flips", "byte", "cut", "cut header", "longer", "zeros", "swap", "missing", "counts")


def damage(rng: random.Random, folder: Path) -> str:
    """Damage a folder in one way, and return a description."""
    kind = rng.choice(KINDS)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = rng.choice(files)
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data)) if data else 0
    if kind == "swap":
        other = rng.choice(files)
        os.rename(path, folder / "swapped")
        if other != path:
            os.rename(other, path)
        os.rename(folder / "swapped", other)
        return f"swap of {path.name} and {other.name}"
    if kind == "missing":
        path.unlink()
        return f"{path.name} missing"
    if kind == "counts":
        return false_counts(rng, folder)
    if kind in ("flip", "flips"):
        for _ in range(1 if kind == "flip" else rng.randrange(2, 9)):
            place = rng.randrange(len(data)) if data else 0
            data[place : place + 1] = bytes([data[place] ^ 1 << rng.randrange(8)]) if data else b""
    elif kind == "byte":
        data[at : at + 1] = bytes([rng.randrange(256)])
    elif kind == "cut":
        del data[at:]
    elif kind == "cut header":
        del data[min(at, rng.randrange(129)) :]
    elif kind == "longer":
        data += rng.randbytes(rng.randrange(1, 99))
    else:
        stop = min(len(data), at + rng.randrange(1, 64))
        data[at:stop] = bytes(stop - at)
    path.write_bytes(data)
    return f"{kind} of {path.name} near {at}"


def false_counts(rng: random.Random, folder: Path) -> str:
    """Write a graph.json with a fitting checksum and a false number of nodes, edges, rows or bytes."""
    wrong = rng.choice([0, 1, -1, 2**31, 2**62, 2**63, 10**30])
    content = json.loads((folder / "graph.json").read_text())
    name, key = rng.choice(sorted(content["files"])), rng.choice(["num_nodes", "num_edges", "shape", "num_bytes"])
    if key in ("num_nodes", "num_edges"):
        sign(folder, lambda content: content.update({key: wrong}))
    else:
        value = [wrong, *content["files"][name]["shape"][1:]] if key == "shape" else wrong
        sign(folder, lambda content: content["files"][name].update({key: value}))
    return f"{key} of {wrong} for {name}"
