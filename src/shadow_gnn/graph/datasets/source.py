"""Source: what every named data set offers: its raw files, where they come from, and how they are read.

Not for: any one data set (saint.py, ogb.py, planetoid.py, gnn_benchmark.py), nor for the raw formats (ingest).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.nodes import FeatureDtype
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import Contents, contents_of


@dataclass(frozen=True)
class Reading:
    """What to do with raw files."""

    raw: Path
    """Folder of the raw files."""
    scratch: Path
    """Folder on the disk where arrays too large for memory are put together."""
    feature_dtype: FeatureDtype
    """How dense features are stored."""
    progress: Progress
    """Told of what is being done."""


@dataclass(frozen=True)
class Source:
    """One named data set."""

    files: tuple[str, ...]
    """Raw files that must be there, as paths inside the raw folder."""
    addresses: Callable[[], Mapping[str, str]]
    """Gives the address of each file, or of one archive that holds them all; called only to download."""
    read: Callable[[Reading], AbstractContextManager[tuple[Contents, Summary]]]
    """Gives the contents of the graph folder; they can be read while the block lasts."""

    def missing(self, raw: Path) -> list[str]:
        """Return the raw files that are not there; text may also be there unpacked, without .gz."""
        return [
            name for name in self.files if not (raw / name).exists() and not (raw / name.removesuffix(".gz")).exists()
        ]


def in_memory(
    read: Callable[[Reading], tuple[Graph, Summary]],
) -> Callable[[Reading], AbstractContextManager[tuple[Contents, Summary]]]:
    """Return a reader for a data set that fits in memory."""

    @contextmanager
    def opened(reading: Reading) -> Iterator[tuple[Contents, Summary]]:
        graph, summary = read(reading)
        yield contents_of(graph), summary

    return opened
