"""Named: datasets by name: download, convert once, compare with the published counts; find the folder later.

Not for: the built-in graph (builtin.py), nor for a user's own files (importing).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from shadow_gnn.base.errors import ShadowError, SourceError, WriteError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.datasets.builtin import cache_folder
from shadow_gnn.graph.datasets.download import download, unpack
from shadow_gnn.graph.datasets.gnn_benchmark import benchmark_source
from shadow_gnn.graph.datasets.known_downloads import expected_checksum, record_checksum
from shadow_gnn.graph.datasets.ogb import ogb_source
from shadow_gnn.graph.datasets.planetoid import planetoid_source
from shadow_gnn.graph.datasets.saint import saint_source
from shadow_gnn.graph.datasets.source import Reading, Source
from shadow_gnn.graph.datasets.statistics import PAPER, PYG, Statistics, dataset_differences, listing_differences
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.options import FeatureDtype, ImportOptions, NodeFiles
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST, open_graph, save_contents

NAMES = (*PAPER, *PYG)
"""Names of the available datasets."""

_KINDS = {
    **dict.fromkeys(("flickr", "reddit", "yelp"), saint_source),
    **dict.fromkeys(("ogbn-arxiv", "ogbn-products", "ogbn-papers100M", "ogbl-collab"), ogb_source),
    **dict.fromkeys(("cora", "citeseer", "pubmed"), planetoid_source),
    **dict.fromkeys(("coauthor-cs", "coauthor-physics", "amazon-computers", "amazon-photo"), benchmark_source),
}


@dataclass(frozen=True)
class Getting:
    """Source and destination of a dataset."""

    data: Path | None = None
    """Folder of graph folders, each with the name of its dataset; None for data_folder()."""
    source: Path | None = None
    """Folder with the raw files, which are then not downloaded; None for raw/NAME in that folder."""
    feature_dtype: FeatureDtype = "auto"
    """Storage of dense features; auto keeps float16 and converts all else to float32."""
    expected: Statistics | None = None
    """Expected counts of the graph; None for the published ones."""


_DEFAULTS = Getting()


def data_folder() -> Path:
    """Return SHADOW_DATA if that is set, otherwise data in the folder for caches."""
    chosen = os.environ.get("SHADOW_DATA")
    return Path(chosen) if chosen else cache_folder() / "data"


def source_of(name: str) -> Source:
    """Return the raw files of a dataset."""
    if name not in _KINDS:
        near = get_close_matches(name, NAMES, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"data: name must be one of {', '.join(NAMES)}, got {name!r}{hint}")
    return _KINDS[name](name)


def find_dataset(name: str, folder: Path | None = None) -> Path:
    """Return the graph folder of a dataset: `folder`/`name`, or `folder` itself if it is a graph folder."""
    files = source_of(name).files
    place = folder or data_folder()
    if (place / MANIFEST).exists():
        return place
    if (place / name / MANIFEST).exists():
        return place / name
    raise SourceError(
        f"{name}: is not in {place}; run `{_command(name, folder)}`, which without internet takes {_listed(files)} "
        f"from {place / 'raw' / name}"
    )


def get_dataset(name: str, getting: Getting = _DEFAULTS, *, progress: Progress = silent) -> tuple[Path, Summary | None]:
    """Make the graph folder of a dataset unless it exists; return it and the summary of the import.

    A graph other than the published one is refused, with all differences in one line. None: the folder existed.

    >>> folder, summary = sg.get_dataset("ogbn-arxiv")  # doctest: +SKIP
    """
    source = source_of(name)
    place = getting.data or data_folder()
    folder, raw = place / name, getting.source or place / "raw" / name
    if folder.exists():
        open_graph(folder)
        return folder, None
    _bring(name, source, raw, getting, progress)
    inner = raw / "raw"
    # PyG keeps raw files in a folder of that name; OGB's own layout has one inside.
    if source.missing(raw) and not source.missing(inner):
        raw = inner

    def check(graph: Graph) -> None:
        _refuse(name, raw, dataset_differences(name, graph, expected=getting.expected))

    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{place}: cannot be made: {error.strerror or error}") from error
    options = ImportOptions(nodes=NodeFiles(feature_dtype=getting.feature_dtype))
    with source.read(Reading(raw, place, options, progress)) as (contents, summary):
        _refuse(name, raw, listing_differences(name, summary, expected=getting.expected))
        save_contents(contents, folder, check=check, progress=progress)
    return folder, summary


def _refuse(name: str, raw: Path, lines: list[str]) -> None:
    if lines:
        raise SourceError(
            f"{name}: the files in {raw} are not this dataset: {'; '.join(lines)}; "
            "shadow data import imports them without this check"
        )


def _bring(name: str, source: Source, raw: Path, getting: Getting, progress: Progress) -> None:
    """Download the raw files that are missing."""
    if not source.missing(raw) or not source.missing(raw / "raw"):
        return
    if getting.source is not None:
        missing = source.missing(raw)
        raise SourceError(f"{raw}: must hold {_listed(source.files)} for {name}, {missing[0]} is missing")
    wanted: tuple[str, ...] = source.files
    try:
        raw.mkdir(parents=True, exist_ok=True)
        addresses = source.addresses()
        wanted = tuple(addresses)
        for file, address in addresses.items():
            given = (raw / file).exists()
            if not given:
                data = getting.data or data_folder()
                found = download(address, raw / file, progress, expected=expected_checksum(address, data))
                record_checksum(address, found, data)
            if file.endswith(".zip"):
                unpack(raw / file, raw, progress)
                # An archive that the user put there stays.
                if not given:
                    (raw / file).unlink()
    except (ShadowError, OSError) as error:
        raise SourceError(
            f"{name}: {error}; put {_listed(wanted)} into {raw}, then run `{_command(name, getting.data)}` again"
        ) from error
    missing = source.missing(raw)
    if missing:
        raise SourceError(f"{name}: {raw} must hold {missing[0]} after the download, it does not")


def _command(name: str, data: Path | None) -> str:
    return f"shadow data get {name}" + ("" if data is None else f" --data {data}")


def _listed(files: tuple[str, ...]) -> str:
    return ", ".join(files)
