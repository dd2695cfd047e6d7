"""Build the built-in graph, Debian's packages, from the package lists that apt keeps on a Debian machine.

Not for: use after installation; the file that it writes is part of the package (src/shadow_gnn/graph/datasets).

With the lists of the machine:      python tools/build_debian_graph.py
With a Packages file of your own:   python tools/build_debian_graph.py --packages Packages --descriptions Translation-en

Images without long descriptions (Acquire::Languages "none") can fetch them into a folder of their own:

    mkdir -p lists/partial
    apt-get -o Dir::State::lists="$PWD/lists" -o Acquire::Languages=en update
    python tools/build_debian_graph.py --lists lists
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pack_graph import packed, write_npz
from text_features import reduced, word_weights

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "src" / "shadow_gnn" / "graph" / "datasets"
LISTS = Path("/var/lib/apt/lists")
APT_HELPER = "/usr/lib/apt/apt-helper"

RELATIONS = ("Pre-Depends", "Depends", "Recommends", "Suggests")
# A virtual package of one to three providers (a renamed library, a Rust crate's feature) stands for those packages. One
# of thirty (mail-transport-agent) says "any of these": thirty edges that are about none of them.
MAX_PROVIDERS = 3
# Of a hundred sources, by the hash of their names.
SHARES = (("train", 60), ("valid", 20), ("test", 20))
MIN_PACKAGES_PER_WORD = 8
WORD = re.compile(r"[a-z][a-z0-9]*(?:\+\+|#)?")


@dataclass(frozen=True)
class Package:
    """What the graph takes from one paragraph of a Packages file."""

    name: str
    source: str
    """Name of the source package; packages of one source are siblings."""
    section: str
    """Without the archive area."""
    related: tuple[str, ...]
    """Names it depends on, recommends or suggests, real or virtual."""
    provides: tuple[str, ...]
    """Virtual names it stands for."""
    text: str
    """Its description, without its own and its source's name."""


@dataclass(frozen=True)
class Provenance:
    """Where the file comes from; written beside it."""

    release: str
    packages_date: str
    num_nodes: int
    num_edges: int
    num_classes: int
    num_columns: int
    num_sources: int
    split_nodes: dict[str, int]
    descriptions: str
    num_bytes: int
    sha256: str
    built_by: str
    licence: str


def read_text(path: Path) -> str:
    """Read a list, plain or compressed in any way that apt knows."""
    if path.suffix in (".lz4", ".xz", ".gz", ".bz2", ".zst", ".lzma"):
        if shutil.which(APT_HELPER) is None:
            sys.exit(f"{path}: is compressed and {APT_HELPER} is not here; unpack it first")
        return subprocess.run([APT_HELPER, "cat-file", str(path)], check=True, stdout=subprocess.PIPE).stdout.decode()
    return path.read_text(encoding="utf-8")


def paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Give the fields of each paragraph; the lines of a field are joined by newlines."""
    for block in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line[:1] in (" ", "\t"):
                fields[name] += "\n" + line.strip()
            elif ":" in line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if fields:
            yield fields


def names(relation: str) -> Iterator[str]:
    """Give the packages of a relation field: versions and architectures stripped, alternatives one by one."""
    for part in re.split(r"[,|]", relation):
        name = re.sub(r"[(\[<].*", "", part, flags=re.DOTALL).strip().partition(":")[0]
        if name:
            yield name


def own_words_removed(text: str, *own: str) -> str:
    """Take the given names out of a text: python3-x and libx-dev would give the section away."""
    for name in own:
        text = re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", " ", text)
    return text


def read_packages(packages: Path, descriptions: Path | None) -> list[Package]:
    """Read every package once, in the order of names; the first paragraph counts where a name comes twice."""
    long_text = {}
    if descriptions is not None:
        long_text = {
            fields["Description-md5"]: fields["Description-en"] for fields in paragraphs(read_text(descriptions))
        }
    found: dict[str, Package] = {}
    for fields in paragraphs(read_text(packages)):
        name = fields["Package"]
        source = fields.get("Source", name).split()[0]
        text = long_text.get(fields.get("Description-md5", ""), fields.get("Description", "")).lower()
        package = Package(
            name=name,
            source=source,
            section=fields["Section"].rpartition("/")[2],
            related=tuple(other for key in RELATIONS for other in names(fields.get(key, ""))),
            provides=tuple(names(fields.get("Provides", ""))),
            text=own_words_removed(text, name, source),
        )
        found.setdefault(name, package)
    return [found[name] for name in sorted(found)]


def undirected_edges(packages: Sequence[Package]) -> NDArray[np.int64]:
    """Return each joined pair once, [E, 2] ascending: a name that is no package leads to its few providers."""
    number = {package.name: node for node, package in enumerate(packages)}
    providers: dict[str, set[int]] = defaultdict(set)
    for node, package in enumerate(packages):
        for name in package.provides:
            providers[name].add(node)
    pairs: set[tuple[int, int]] = set()
    for node, package in enumerate(packages):
        for name in package.related:
            others = {number[name]} if name in number else providers.get(name, set())
            if len(others) <= MAX_PROVIDERS:
                pairs |= {(min(node, other), max(node, other)) for other in others if other != node}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def steps(values: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round each column to 255 steps around zero, the largest value at an end: the steps and their sizes.

    Finer steps give no better accuracy.
    """
    scale = (np.abs(values).max(axis=0) / 127).astype(np.float32)
    return np.clip(np.rint(values / scale), -127, 127).astype(np.int8), scale


def split_of(source: str) -> int:
    """Return the split of a source package, by a hash of its name alone: 0 train, 1 valid, 2 test."""
    place = int.from_bytes(hashlib.blake2b(source.encode(), digest_size=8).digest(), "big") % 100
    return 0 if place < SHARES[0][1] else 1 if place < SHARES[0][1] + SHARES[1][1] else 2


def text_block(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Join texts by newlines, which no name holds."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def graph_arrays(packages: Sequence[Package], num_columns: int) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of the graph, each edge once, at its lower end."""
    pairs = undirected_edges(packages)
    sections = sorted({package.section for package in packages})
    bags = [WORD.findall(package.text) for package in packages]
    x, scale = steps(reduced(word_weights(bags, MIN_PACKAGES_PER_WORD), num_columns))
    count = np.bincount(pairs[:, 0], minlength=len(packages))
    return {
        "indptr": np.concatenate(([0], np.cumsum(count))).astype(np.int64),
        "indices": pairs[:, 1].astype(np.int32),
        "x": x,
        "x_scale": scale,
        "y": np.array([sections.index(package.section) for package in packages], np.uint8),
        "split": np.array([split_of(package.source) for package in packages], np.uint8),
        "node_name": text_block([package.name for package in packages]),
        "class_name": text_block(sections),
    }


def release_of(packages: Path) -> dict[str, Any]:
    """Return the release and the date of its list, from the InRelease file beside it, if it is there."""
    path = packages.with_name(packages.name.partition("_main_")[0] + "_InRelease")
    if not path.is_file():
        return {"release": "unknown", "packages_date": "unknown"}
    head = dict(line.partition(": ")[::2] for line in path.read_text().splitlines()[:40])
    release = f"Debian {head.get('Version', '?')} ({head.get('Codename', '?')}), main"
    return {"release": release, "packages_date": head.get("Date", "unknown")}


def counts_of(packages: Sequence[Package], arrays: dict[str, NDArray[np.generic]]) -> dict[str, Any]:
    """Return the counts that the provenance records and the tests compare."""
    return {
        "num_nodes": len(packages),
        "num_edges": len(arrays["indices"]),
        "num_classes": len({package.section for package in packages}),
        "num_columns": len(arrays["x"]),
        "num_sources": len({package.source for package in packages}),
        "split_nodes": {name: int((arrays["split"] == at).sum()) for at, (name, _) in enumerate(SHARES)},
    }


def the_list(lists: Path, pattern: str) -> Path | None:
    """Return the list of the release itself among those of its updates."""
    found = [path for path in lists.glob(pattern) if "-updates" not in path.name and "-security" not in path.name]
    if len(found) > 1:
        sys.exit(f"{lists}: holds {len(found)} lists {pattern}; name one with --packages and --descriptions")
    return found[0] if found else None


def main() -> None:
    """Build the file and its provenance and say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=Path, default=LISTS, help="folder of apt's lists")
    parser.add_argument("--packages", type=Path, help="a Packages file, plain or compressed")
    parser.add_argument("--descriptions", type=Path, help="a Translation-en file; without one, short descriptions")
    parser.add_argument("--num-columns", type=int, default=64, help="numbers for each node")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write debian.npz and debian.json to")
    chosen = parser.parse_args()
    packages_path = chosen.packages or the_list(chosen.lists, "*_main_binary-*_Packages*")
    if packages_path is None:
        sys.exit(f"{chosen.lists}: has no Packages list; run apt-get update or name one with --packages")
    descriptions = chosen.descriptions
    if descriptions is None and chosen.packages is None:
        descriptions = the_list(chosen.lists, "*_main_i18n_Translation-en*")
    packages = read_packages(packages_path, descriptions)
    arrays = graph_arrays(packages, chosen.num_columns)
    path = chosen.out / "debian.npz"
    write_npz(path, packed(arrays))
    record = Provenance(
        **release_of(packages_path),
        **counts_of(packages, arrays),
        descriptions="short" if descriptions is None else "short and long",
        num_bytes=path.stat().st_size,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        built_by="tools/build_debian_graph.py",
        licence="Names, sections and relations of packages are facts; descriptions are here only as numbers.",
    )
    (chosen.out / "debian.json").write_text(json.dumps(asdict(record), indent=1) + "\n")
    print((chosen.out / "debian.json").read_text(), end="")


if __name__ == "__main__":
    main()
