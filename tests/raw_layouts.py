"""Small folders in exactly the layouts in which the named datasets are published, and the expected graphs."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from shadow_gnn.graph.datasets.statistics import Statistics

NUM_NODES = 6
# 0-1, 1-2, 2-3, 3-4, 4-5, one of them twice in the same direction, one in both directions, and a self-loop.
SRC = np.array([0, 1, 2, 3, 4, 1, 3, 5])
DST = np.array([1, 2, 3, 4, 5, 2, 2, 5])
INDPTR = [0, 1, 3, 5, 7, 9, 10]
INDICES = [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]
X = np.arange(NUM_NODES * 3, dtype=np.float32).reshape(NUM_NODES, 3) / 4
Y = np.array([0, 1, 0, 2, 1, 2])
MULTI = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [0, 1], [1, 1]])
SPLITS = {"train": [0, 3, 5], "valid": [1], "test": [2, 4]}

NODE = Statistics(NUM_NODES, 5, "undirected", 3, 3, sizes=(3, 1, 2), entries=10, listed=8)


def csv(rows: Any) -> bytes:
    """Return the gzip of a CSV without header, as OGB writes it."""
    lines = (",".join(str(cell) for cell in np.atleast_1d(row).tolist()) for row in rows)
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder and the folders inside it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def write_saint(folder: Path, *, multi: bool = False) -> Path:
    """Write GraphSAINT's four files: both directions of every edge, a self-loop, string ids out of order."""
    folder.mkdir(parents=True)
    src, dst = np.concatenate((SRC[:5], DST[:5], [5])), np.concatenate((DST[:5], SRC[:5], [5]))
    sp.save_npz(folder / "adj_full.npz", sp.csr_matrix((np.ones(11, bool), (src, dst)), shape=(6, 6)))
    np.save(folder / "feats.npy", X.astype(np.float64))
    labels = MULTI if multi else Y
    order = [3, 0, 5, 1, 2, 4]
    (folder / "class_map.json").write_text(json.dumps({str(node): labels[node].tolist() for node in order}))
    (folder / "role.json").write_text(json.dumps({"te": [4, 2], "tr": [5, 0, 3], "va": [1]}))
    return folder


def write_ogb_text(folder: Path, *, split: str = "time") -> Path:
    """Write the unpacked archive of arxiv or products."""
    files = {
        "raw/edge.csv.gz": csv(np.stack((SRC, DST), axis=1)),
        "raw/num-node-list.csv.gz": csv([NUM_NODES]),
        "raw/num-edge-list.csv.gz": csv([len(SRC)]),
        "raw/node-feat.csv.gz": csv(X),
        "raw/node-label.csv.gz": csv(Y),
        "raw/node_year.csv.gz": csv([2015] * NUM_NODES),
        "mapping/README.md": b"ids of papers\n",
    }
    return write_files(folder, files | {f"split/{split}/{name}.csv.gz": csv(ids) for name, ids in SPLITS.items()})


def write_ogb_binary(folder: Path, *, save: Callable[..., None] = np.savez_compressed, **changes: Any) -> Path:
    """Write the unpacked archive of papers100M: labels are floats [N, 1] with NaN for unknown."""
    arrays = {
        "edge_index": np.stack((SRC, DST)),
        "node_feat": X,
        "node_year": np.full((NUM_NODES, 1), 2015),
        "num_nodes_list": np.array([NUM_NODES]),
        "num_edges_list": np.array([len(SRC)]),
    } | changes
    node_label = arrays.pop("node_label", np.where(Y == 1, np.nan, Y)[:, None].astype(np.float32))
    splits = arrays.pop("splits", SPLITS)
    (folder / "raw").mkdir(parents=True)
    save(folder / "raw" / "data.npz", **arrays)
    save(folder / "raw" / "node-label.npz", node_label=node_label)
    return write_files(folder, {f"split/time/{name}.csv.gz": csv(ids) for name, ids in splits.items()})


COLLAB_LINKS = np.array([[0, 1], [1, 2], [2, 1], [2, 3], [1, 2]])
COLLAB_WEIGHTS = np.array([2, 1, 3, 1, 5])
COLLAB_YEARS = np.array([2001, 2004, 1999, 2010, 2003])
COLLAB_PAIRS = {
    "train_pos": COLLAB_LINKS,
    "valid_pos": np.array([[3, 4]]),
    "valid_neg": np.array([[0, 5], [1, 5]]),
    "test_pos": np.array([[4, 5], [0, 2]]),
    "test_neg": np.array([[0, 3]]),
}


def write_collab(folder: Path, *, zipped: bool = False) -> Path:
    """Write the unpacked archive of collab; its splits are dicts of NumPy arrays in torch's older file format."""
    write_files(
        folder,
        {
            "raw/edge.csv.gz": csv(COLLAB_LINKS),
            "raw/edge_weight.csv.gz": csv(COLLAB_WEIGHTS),
            "raw/edge_year.csv.gz": csv(COLLAB_YEARS),
            "raw/num-node-list.csv.gz": csv([NUM_NODES]),
            "raw/num-edge-list.csv.gz": csv([len(COLLAB_LINKS)]),
            "raw/node-feat.csv.gz": csv(X),
        },
    )
    (folder / "split" / "time").mkdir(parents=True)
    for name in ("train", "valid", "test"):
        edge = COLLAB_PAIRS[f"{name}_pos"]
        content = {"edge": edge, "weight": np.ones(len(edge), np.int64), "year": np.full(len(edge), 2018)}
        if name != "train":
            content["edge_neg"] = COLLAB_PAIRS[f"{name}_neg"]
        path = folder / "split" / "time" / f"{name}.pt"
        torch.save(content, path, _use_new_zipfile_serialization=zipped)
    return folder


def write_planetoid(folder: Path, name: str) -> Path:
    """Write the eight files of 502 + 3 nodes as Python 2 wrote them; one id between the test nodes is missing."""
    folder.mkdir(parents=True)
    known, test = 502, [504, 502]
    allx = sp.csr_matrix(np.eye(known, 4, dtype=np.float32))
    tx = sp.csr_matrix(np.array([[0, 0, 0, 9], [0, 0, 7, 0]], dtype=np.float32))
    ally = np.eye(2, dtype=np.int32)[np.arange(known) % 2]
    ty = np.array([[0, 1], [1, 0]], dtype=np.int32)
    links = {0: [1, 504, 0], 1: [0, 0], 504: [0], 502: [501], 501: [502], 503: []}
    parts = {"x": allx[:2], "tx": tx, "allx": allx, "y": ally[:2], "ty": ty, "ally": ally, "graph": links}
    for part, value in parts.items():
        (folder / f"ind.{name}.{part}").write_bytes(python2_pickle(value))
    (folder / f"ind.{name}.test.index").write_text("".join(f"{node}\n" for node in test))
    return folder


PLANETOID = Statistics(505, 6, "both ways", 4, 2, sizes=(2, 500, 2), entries=6)


def python2_pickle(value: Any) -> bytes:
    """Return what cPickle of Python 2 writes in protocol 2: bytes are text there, and names are the old ones."""
    return b"\x80\x02" + _python2(value) + b"."


def _python2(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        dtype = b"cnumpy\ndtype\n" + _text(value.dtype.str[1:]) + b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xff"
        dtype += b"J\xff\xff\xff\xffK\x00tb"
        start = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        raw = value.tobytes()
        data = b"T" + struct.pack("<I", len(raw)) + raw
        return start + b"(K\x01" + _python2(tuple(value.shape)) + dtype + b"\x89" + data + b"tb"
    if isinstance(value, sp.csr_matrix):
        state = {"_shape": value.shape, "maxprint": 50}
        state |= {key: getattr(value, key) for key in ("indices", "indptr", "data")}
        items = b"".join(_text(key) + _python2(item) for key, item in state.items())
        return b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + items + b"ub"
    if isinstance(value, dict):
        items = b"".join(_python2(key) + _python2(item) for key, item in value.items())
        return b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" + items + b"u"
    if isinstance(value, (list, tuple)):
        items = b"".join(_python2(item) for item in value)
        return b"](" + items + b"e" if isinstance(value, list) else b"(" + items + b"t"
    return b"J" + struct.pack("<i", value)


def _text(value: str) -> bytes:
    return b"U" + bytes([len(value)]) + value.encode()


def write_gnn_benchmark(folder: Path, file: str) -> Path:
    """Write the one .npz of a Coauthor or Amazon graph: directed lists, counts as features."""
    folder.mkdir(parents=True)
    adj = sp.csr_matrix((np.ones(8, np.float32), (SRC, DST)), shape=(NUM_NODES, NUM_NODES))
    attr = sp.csr_matrix(X)
    arrays = {f"adj_{key}": getattr(adj, key) for key in ("data", "indices", "indptr", "shape")}
    arrays |= {f"attr_{key}": getattr(attr, key) for key in ("data", "indices", "indptr", "shape")}
    np.savez(folder / file, labels=Y, **arrays)
    return folder


BENCHMARK = Statistics(NUM_NODES, 10, "both ways", 3, 3, sizes=(4, 1, 1), entries=10)


def write_raw(name: str, folder: Path) -> Statistics:
    """Write the small raw files of a named dataset, and return the facts of its graph."""
    if name in ("flickr", "reddit", "yelp"):
        write_saint(folder, multi=name == "yelp")
        multi = {"num_classes": 2, "multi_label": True} if name == "yelp" else {"num_classes": 3}
        # The matrix has 11 entries with its self-loop: 5.5 edges, rounded up.
        return Statistics(NUM_NODES, 6, "undirected", 3, sizes=(3, 1, 2), listed=11, **multi)
    if name == "ogbn-papers100M":
        write_ogb_binary(folder)
        return NODE
    if name.startswith("ogbn-"):
        write_ogb_text(folder, split="sales_ranking" if name == "ogbn-products" else "time")
        return NODE
    if name == "ogbl-collab":
        write_collab(folder)
        return Statistics(NUM_NODES, 8, "pairs", 3, None, sizes=(5, 1, 2), entries=6, listed=5)
    if name in ("cora", "citeseer", "pubmed"):
        write_planetoid(folder, name)
        return PLANETOID
    ends = {"cs": "ms_academic_cs", "physics": "ms_academic_phy"}
    kind = name.partition("-")[2]
    write_gnn_benchmark(folder, f"{ends.get(kind, f'amazon_electronics_{kind}')}.npz")
    return BENCHMARK
