"""Packed batches: those that a loader makes, byte for byte, in an order of each epoch's own; a file whole or not."""

import os
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.graph.record import DenseFeatures, SparseFeatures
from shadow_gnn.graph.store import save_graph
from shadow_gnn.loading.epochs import WHOLE, RankPart
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.packed_loader import PackedLoader
from shadow_gnn.training.run_setup import make_setup
from shadow_gnn.training.runs.run import train_recipe

GRAPH = communities()
TARGETS = GRAPH.splits["train"]


def packed(folder, *, graph=GRAPH, extractor=None, prefetch=0, **options):
    loader = Loader(
        graph, extractor or PprExtractor(10), TARGETS, batch_size=16, prefetch=prefetch, **{"seed": 3, **options}
    )
    return PackedLoader(loader, folder)


def content(batch):
    """Everything of a batch, with the types and bytes of its tensors."""
    values = ((field.name, getattr(batch, field.name)) for field in fields(batch))
    return {
        name: (value.dtype, tuple(value.shape), value.numpy().tobytes()) if isinstance(value, torch.Tensor) else value
        for name, value in values
    }


def by_targets(batches):
    found = {tuple(batch.target_row.tolist()): content(batch) for batch in batches}
    assert len(found) == len(batches)
    return found


def half(graph):
    return replace(graph, x=DenseFeatures(graph.x.matrix.astype(np.float16)))


@pytest.mark.parametrize("order", ["hop", "subgraph"])
@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize(
    "graph",
    [GRAPH, half(GRAPH), with_labels(GRAPH, "multilabel"), with_labels(GRAPH, "values"), replace(GRAPH, x=None)],
    ids=["classes", "float16", "multilabel", "values", "no features"],
)
def test_batches_are_those_of_a_loader(tmp_path, graph, order, prefetch):
    loader = packed(tmp_path, graph=graph, order=order, prefetch=prefetch)
    made, read = list(loader.epoch(0)), list(loader.epoch(0))
    assert loader.path().exists()
    assert [content(batch) for batch in made] == [content(batch) for batch in read]
    plain = Loader(graph, PprExtractor(10), TARGETS, batch_size=16, seed=3, order=order)
    expected = by_targets([plain.batch_of(batch.target_row.numpy()) for batch in made])
    assert by_targets(list(loader.epoch(7))) == expected
    assert sorted(row for rows in expected for row in rows) == list(range(len(TARGETS)))


def test_weights_of_edges_are_kept(tmp_path):
    graph = replace(GRAPH, edge_weight=np.linspace(1, 2, GRAPH.num_edges, dtype=np.float32), directed=True)
    loader = packed(tmp_path, graph=graph, extractor=PprExtractor(10, edge_pos=True), edge_arrays=("weight",))
    made = [content(batch) for batch in loader.epoch(0)]
    assert made[0]["edge_weight"] is not None
    assert [content(batch) for batch in loader.epoch(0)] == made


def test_the_order_is_of_the_seed_and_the_epoch(tmp_path):
    def order(loader, epoch):
        return [tuple(batch.target_row.tolist()) for batch in loader.epoch(epoch)]

    first, again, other = (packed(tmp_path, seed=seed) for seed in (3, 3, 4))
    orders = [order(first, epoch) for epoch in range(6)]
    assert len({tuple(found) for found in orders}) > 1
    assert len({frozenset(found) for found in orders}) == 1
    assert [order(again, epoch) for epoch in range(6)] == orders
    assert set(order(other, 0)) != set(orders[0])
    assert other.path() != first.path()


def test_an_epoch_that_is_left_early_leaves_no_file(tmp_path):
    loader = packed(tmp_path)
    epoch = loader.epoch(0)
    next(epoch)
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    epoch.close()
    assert list(tmp_path.iterdir()) == []
    # The last batch is taken, but nothing after it: as training does.
    epoch = loader.epoch(0)
    for _ in range(len(loader)):
        next(epoch)
    assert loader.path().exists()


def test_what_decides_the_batches_decides_the_file(tmp_path):
    other_y = replace(GRAPH, y=GRAPH.y[::-1].copy())
    other_x = replace(GRAPH, x=DenseFeatures(GRAPH.x.matrix + 1))
    paths = [
        packed(tmp_path).path(),
        packed(tmp_path, graph=other_y).path(),
        packed(tmp_path, graph=other_x).path(),
        packed(tmp_path, graph=half(GRAPH)).path(),
        packed(tmp_path, extractor=PprExtractor(9)).path(),
        packed(tmp_path, order="subgraph").path(),
        packed(tmp_path, drop_last=True).path(),
    ]
    assert len(set(paths)) == len(paths)


def test_the_need_is_known_before_anything_is_written(tmp_path):
    loader = packed(tmp_path / "cache")
    need = loader.num_bytes_needed()
    assert not (tmp_path / "cache").exists()
    list(loader.epoch(0))
    assert loader.path().stat().st_size == pytest.approx(need, rel=0.2)
    assert loader.num_bytes_needed() == 0


@pytest.mark.parametrize("place", [0, 1000, -200, -40, -9, -1])
def test_a_damaged_file_is_named(tmp_path, place):
    loader = packed(tmp_path)
    list(loader.epoch(0))
    data = bytearray(loader.path().read_bytes())
    data[place] ^= 0xFF
    loader.path().write_bytes(data)
    with pytest.raises(FolderError, match=rf"{loader.path()}.*delete it to pack again"):
        list(loader.epoch(1))


@pytest.mark.parametrize("size", [0, 10, 500, -1])
def test_a_cut_file_is_named(tmp_path, size):
    loader = packed(tmp_path)
    list(loader.epoch(0))
    os.truncate(loader.path(), size if size >= 0 else loader.path().stat().st_size + size)
    with pytest.raises(FolderError, match=rf"{loader.path()}.*delete it to pack again"):
        list(loader.epoch(1))


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(WriteError, match=r"cache.*cannot be written.*training.pack = false"):
        list(packed(tmp_path / "cache").epoch(0))


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"extractor": KhopExtractor(2, 5)}, "for scopes that are drawn in each epoch, got KhopExtractor"),
        ({"inputs": lambda batch: batch}, r"for a model that reads \[inputs\]"),
        ({"labels": np.zeros(len(TARGETS), np.float32)}, "for pairs"),
        (
            {"extractor": PprExtractor(10, edge_pos=True), "edge_arrays": ("id",)},
            "for a model that reads edge features",
        ),
        (
            {"graph": replace(GRAPH, x=SparseFeatures(np.zeros(121, np.int64), *(np.zeros(0, t) for t in "if"), 4))},
            "for sparse features",
        ),
    ],
)
def test_what_cannot_be_packed_is_refused(tmp_path, options, fault):
    with pytest.raises(ValueError, match=f"training: pack must be false {fault}"):
        packed(tmp_path, **options)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"extractor": {"kind": "khop"}}, "for scopes that are drawn"),
        ({"task__kind": "link"}, "for links, whose negatives are new"),
        ({"training__method": "full", "extractor": None}, "for method 'full', whose batches share one graph"),
        ({"inputs__smooth": 1}, r"for a model that reads \[inputs\]"),
    ],
)
def test_a_recipe_that_cannot_be_packed_is_refused(tmp_path, changes, fault):
    recipe = small_recipe(training__pack=True, **changes)
    with pytest.raises(ValueError, match=f"training: pack must be false {fault}"):
        make_setup(recipe, GRAPH, cache_folder=tmp_path)
    with pytest.raises(ValueError, match="pack must be false without a folder"):
        make_setup(small_recipe(training__pack=True), GRAPH)


@pytest.mark.parametrize("num_ranks", [2, 13])
def test_each_of_several_processes_keeps_its_part_of_every_batch(tmp_path, num_ranks):
    loader = packed(tmp_path)  # The last batch has 12 targets, fewer than 13 processes.
    shares = [RankPart(rank, num_ranks) for rank in range(num_ranks)]
    whole = list(loader.epoch(4))
    made = [list(loader.rank_epoch(4, share)) for share in shares]
    read = [list(loader.rank_epoch(4, share)) for share in shares]
    assert len({loader.path(share) for share in (WHOLE, *shares)}) == 1 + num_ranks
    assert all(loader.path(share).exists() for share in shares)
    for one, other in zip(made, read, strict=True):
        assert [content(batch) for batch in one] == [content(batch) for batch in other]
    for batch, *parts in zip(whole, *made, strict=True):
        rows = [row for part in parts if not part.filler for row in part.target_row.tolist()]
        assert rows == batch.target_row.tolist()
    assert any(part.filler for parts in made for part in parts) == (len(TARGETS) % 16 < num_ranks)
    assert sum(loader.num_bytes_needed(share) for share in shares) == 0


def test_a_run_packs_once_and_a_disk_that_is_too_small_is_refused_before_it_begins(tmp_path, monkeypatch):
    save_graph(GRAPH, tmp_path / "g")
    recipe = small_recipe(graph=str(tmp_path / "g"), training__pack=True)
    run = train_recipe(recipe, tmp_path / "run")
    assert len(list((run.folder / "cache").glob("packed-*.bin"))) == 1
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((4096, 4096, 9, 9, 9, 9, 9, 9, 0, 255)))
    with pytest.raises(WriteError, match=r"bytes needed\): the disk has 36864 bytes free"):
        train_recipe(recipe, tmp_path / "other")
    assert not (tmp_path / "other").exists()
