"""OGB: the node datasets arxiv, products and papers100M, and the link dataset collab, from OGB's archives.

Not for: OGB's own loader and its processed files, which current torch refuses to load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from shadow_gnn.base.work_folder import TemporaryScratch
from shadow_gnn.graph.datasets.source import Reading, Source, in_memory
from shadow_gnn.graph.importing.bounded.ogb_stream import stream_ogb
from shadow_gnn.graph.importing.bounded.streaming import StreamOptions
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.collab import read_collab
from shadow_gnn.graph.importing.formats.ogb import read_ogb
from shadow_gnn.graph.store import Contents

_PLACE = "https://snap.stanford.edu/ogb/data"
_TEXT = ("edge", "num-node-list", "node-feat")
_SPLITS = ("train", "valid", "test")


def ogb_source(name: str) -> Source:
    """Return ogbn-arxiv, ogbn-products, ogbn-papers100M or ogbl-collab."""
    if name == "ogbl-collab":
        files = tuple(f"raw/{stem}.csv.gz" for stem in (*_TEXT, "edge_weight", "edge_year"))
        pairs = tuple(f"split/time/{split}.pt" for split in _SPLITS)
        return Source((*files, *pairs), _archive("linkproppred/collab.zip"), in_memory(read_collab))
    split = "sales_ranking" if name == "ogbn-products" else "time"
    splits = tuple(f"split/{split}/{part}.csv.gz" for part in _SPLITS)
    if name == "ogbn-papers100M":
        binary = ("raw/data.npz", "raw/node-label.npz")
        return Source((*binary, *splits), _archive("nodeproppred/papers100M-bin.zip"), _stream)
    text = tuple(f"raw/{stem}.csv.gz" for stem in (*_TEXT, "node-label"))
    short = name.removeprefix("ogbn-")
    return Source((*text, *splits), _archive(f"nodeproppred/{short}.zip"), in_memory(read_ogb))


def _archive(path: str) -> Callable[[], Mapping[str, str]]:
    return lambda: {path.rpartition("/")[2]: f"{_PLACE}/{path}"}


@contextmanager
def _stream(reading: Reading) -> Iterator[tuple[Contents, Summary]]:
    streaming = StreamOptions(TemporaryScratch(reading.scratch), progress=reading.progress)
    with stream_ogb(reading.raw, reading.options, streaming) as (arrays, num_columns, summary):
        yield Contents(arrays, False, num_columns, sort_bytes=streaming.memory_bytes), summary
