"""Source: the raw files of a named dataset, their addresses and their reader.

Not for: a single dataset (saint.py, ogb.py, planetoid.py, gnn_benchmark.py), nor for the raw formats (importing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from shadow_gnn.base.files import Progress
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.options import ImportOptions
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import Contents, contents_of


@dataclass(frozen=True)
class Reading:
    """Raw files and the settings for reading them."""

    raw: Path
    """Folder of the raw files."""
    scratch: Path
    """Folder for arrays too large for memory."""
    options: ImportOptions
    """Settings of the import."""
    progress: Progress
    """Called with the progress of each stage."""


@dataclass(frozen=True)
class Source:
    """One named dataset."""

    files: tuple[str, ...]
    """Required raw files, as paths inside the raw folder."""
    addresses: Callable[[], Mapping[str, str]]
    """Returns the address of each file, or of one archive with all of them; called only to download."""
    read: Callable[[Reading], AbstractContextManager[tuple[Contents, Summary]]]
    """Opens the contents of the graph folder, which can be read inside the with block only."""

    def missing(self, raw: Path) -> list[str]:
        """Return the missing raw files; text may also be unpacked, without .gz."""
        return [
            name for name in self.files if not (raw / name).exists() and not (raw / name.removesuffix(".gz")).exists()
        ]


def in_memory(
    read: Callable[[Path, ImportOptions, Progress], tuple[Graph, Summary]],
) -> Callable[[Reading], AbstractContextManager[tuple[Contents, Summary]]]:
    """Return the reader of a dataset that fits in memory."""

    @contextmanager
    def opened(reading: Reading) -> Iterator[tuple[Contents, Summary]]:
        graph, summary = read(reading.raw, reading.options, reading.progress)
        yield contents_of(graph), summary

    return opened
