"""A graph folder whose checksums are all made to fit: what someone who lies would write, unlike damage.

Not for: damage, which the checksums find.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.files import NpyError, describe_file, read_npy_header, write_file


def sign(folder: Path, change: Callable[[dict[str, Any]], object] = lambda content: None) -> None:
    """Describe the files of a folder as they are, apply a change to graph.json, and write it with its checksum."""
    content = json.loads((folder / "graph.json").read_text())
    content.pop("checksum", None)
    files = {name: entry for name, entry in content["files"].items() if (folder / name).is_file()}
    sums: list[int] = []
    for name in sorted(files):
        if name != "blocks.npy":
            sums += _describe(folder / name, files[name])
    np.save(folder / "blocks.npy", np.array(sums, np.uint32))
    if "blocks.npy" in files:
        _describe(folder / "blocks.npy", files["blocks.npy"])
    content["files"] = files
    if "import_record" in content:
        found = describe_file(folder / "import.toml")
        content["import_record"] = {"num_bytes": found.num_bytes, "blake2b": found.checksum}
    change(content)
    write_file(folder / "graph.json", dump_checked(content))


def put(folder: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by their names, with entries in graph.json, and sign the folder."""
    for name, array in arrays.items():
        (folder / f"{name}.npy").parent.mkdir(exist_ok=True)
        np.save(folder / f"{name}.npy", array)

    content = json.loads((folder / "graph.json").read_text())
    for name in arrays:
        content["files"].setdefault(f"{name}.npy", {"dtype": "", "shape": []})
    (folder / "graph.json").write_text(json.dumps(content))
    sign(folder)


def _describe(path: Path, entry: dict[str, Any]) -> list[int]:
    """Fill an entry of graph.json from a file; return the checksums of its blocks."""
    found = describe_file(path)
    entry |= {"num_bytes": found.num_bytes, "blake2b": found.checksum}
    try:
        with path.open("rb") as handle:
            header = read_npy_header(handle)
        entry |= {"dtype": header.dtype.name, "shape": list(header.shape)}
    except NpyError:  # A damaged header keeps what graph.json said.
        pass
    return list(found.blocks)
