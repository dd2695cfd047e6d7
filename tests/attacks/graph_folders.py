"""Hostile graph folders: lying headers and counts, ids out of range, links, wrong types, with fitting checksums."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.attacks.attempt import Attack, shadow
from tests.attacks.signed import put, sign
from tests.communities import communities, near_ring

from shadow_gnn.extract import PprExtractor
from shadow_gnn.extract.gather import feature_rows
from shadow_gnn.graph.record import NodeNames, SparseFeatures
from shadow_gnn.graph.store import open_graph, save_graph

Build = Callable[[Path], Callable[[], object]]
Change = Callable[[Path], object]


def folder_of(place: Path, *, sparse: bool = False, named: bool = False) -> Path:
    """Save a small graph and return its folder."""
    graph = communities()
    if sparse:
        ones = np.ones(120, np.float32)
        graph = replace(graph, x=SparseFeatures(np.arange(121), np.arange(120, dtype=np.int32) % 7, ones, 7))
    if named:
        graph = replace(graph, node_name=NodeNames.of([f"node {number}" for number in range(120)]))
    save_graph(graph, place / "g")
    return place / "g"


def info(change: Change, **options: bool) -> Build:
    """Return an attack on `shadow data info`."""

    def build(place: Path) -> Callable[[], object]:
        change(folder_of(place, **options))
        return shadow("data", "info", "g")

    return build


def value(name: str, at: int, wrong: int, *, signed: bool = True) -> Change:
    """Return a change of one value of an array, with checksums that fit or not."""

    def change(folder: Path) -> None:
        array = np.load(folder / f"{name}.npy")
        array.reshape(-1)[at] = wrong
        np.save(folder / f"{name}.npy", array)
        if signed:
            sign(folder)

    return change


def array(name: str, wrong: Any) -> Change:
    """Return a change of a whole array, with checksums that fit."""
    return lambda folder: put(folder, {name: wrong})


def header(text: str, *, version: bytes = b"\x01\x00") -> Change:
    """Return a change of the header of indices.npy to another text, followed by no data."""

    def change(folder: Path) -> None:
        data = b"\x93NUMPY" + version + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"
        (folder / "indices.npy").write_bytes(data)
        sign(folder)

    return change


def manifest(change: Callable[[dict[str, Any]], object]) -> Change:
    """Return a change of graph.json with a checksum that fits."""
    return lambda folder: sign(folder, change)


def raw(text: str | bytes) -> Change:
    """Return a change of graph.json to any text."""
    return lambda folder: (folder / "graph.json").write_bytes(text if isinstance(text, bytes) else text.encode())


def linked(name: str) -> Change:
    """Return a change that puts a link to a file outside in the place of a file."""

    def change(folder: Path) -> None:
        os.rename(folder / name, folder.parent / "outside")
        os.symlink(folder.parent / "outside", folder / name)

    return change


def swapped(folder: Path) -> None:
    """Swap two files of the same type and shape."""
    put(folder, {"pairs/a": np.array([[0, 1]]), "pairs/b": np.array([[2, 3]])})
    os.rename(folder / "pairs" / "a.npy", folder / "c")
    os.rename(folder / "pairs" / "b.npy", folder / "pairs" / "a.npy")
    os.rename(folder / "c", folder / "pairs" / "b.npy")


def fifo(folder: Path) -> None:
    """Put a named pipe, which has no end, in the place of a file."""
    (folder / "y.npy").unlink()
    os.mkfifo(folder / "y.npy")


def calling(use: Callable[[Any], object], change: Change, **options: bool) -> Build:
    """Return an attack on a function of an opened graph."""

    def build(place: Path) -> Callable[[], object]:
        change(folder_of(place, **options))
        return lambda: use(open_graph("g"))

    return build


def scopes(graph: Any) -> object:
    """Extract the scopes of all nodes."""
    return PprExtractor()(graph, range(graph.num_nodes))


def negatives(graph: Any) -> object:
    """Draw pairs that are not linked."""
    from shadow_gnn.tasks.links.negatives import degree_negatives

    return degree_negatives(graph, 400, 0)


def link_training(place: Path) -> Callable[[], object]:
    """Ask for the memory of link prediction on a graph with an id that is too large."""
    save_graph(near_ring(), place / "g")
    value("indices", 0, 10**6)(place / "g")
    (place / "r.toml").write_text('graph = "g"\n[task]\nkind = "link"\n')
    return shadow("train", "r.toml", "--out", "run")


def training(change: Change) -> Build:
    """Return an attack on training."""

    def build(place: Path) -> Callable[[], object]:
        change(folder_of(place))
        (place / "r.toml").write_text(
            'graph = "g"\n[model]\nnum_layers = 2\nhidden_dim = 8\n[training]\nnum_epochs = 1\n'
        )
        return shadow("train", "r.toml", "--out", "run")

    return build


def names(graph: Any) -> object:
    """Read all names."""
    return [graph.node_name[number] for number in range(graph.num_nodes)]


E64 = "{'descr': '<i4', 'fortran_order': False, 'shape': (%s,), }"

ATTACKS = {
    "id_too_large": Attack(info(value("indices", 7, 10**6)), "g: indices must be from 0 to below 120, got 1000000"),
    "id_of_2_to_31": Attack(
        info(value("indices", 7, 2**31 - 1)), "g: indices must be from 0 to below 120, got 2147483647"
    ),
    "negative_id": Attack(info(value("indices", 7, -1)), "g: indices must be from 0 to below 120, got -1"),
    "offset_too_large": Attack(info(value("indptr", 7, 2**40)), "g: indptr must ascend from 0 to 862, it does not"),
    "offset_that_falls": Attack(info(value("indptr", 7, 0)), "g: indptr must ascend from 0 to 862, it does not"),
    "negative_offset": Attack(
        calling(scopes, value("indptr", 7, -(2**62))), "g: indptr of node 7 is not a range of indices"
    ),
    "scopes_of_an_id_too_large": Attack(
        calling(scopes, value("indices", 7, 120)), "g: indices holds 120, not a node of a graph of 120"
    ),
    "negatives_of_an_id_too_large": Attack(
        calling(negatives, value("indices", 7, 10**6)), "g: indices must be from 0 to below 120, got 1000000"
    ),
    "negatives_of_offsets_that_fall": Attack(
        calling(negatives, value("indptr", 60, 2**40)), "g: indptr must ascend from 0 to 862, it does not"
    ),
    "link_training_on_an_id_too_large": Attack(link_training, "g: indices must be from 0 to below 90, got 1000000"),
    "damaged_id_without_a_fitting_checksum": Attack(
        info(value("indices", 7, 3, signed=False)),
        "g/indices.npy: was edited or damaged: the checksum from byte 0 on does not fit",
    ),
    "damaged_label_without_a_fitting_checksum": Attack(
        info(value("y", 7, 40, signed=False)),
        "g/y.npy: was edited or damaged: the checksum from byte 0 on does not fit",
    ),
    "column_that_does_not_exist": Attack(
        info(value("x_indices", 3, 7), sparse=True), "features: x_indices must be from 0 to below 7, got 7"
    ),
    "negative_column": Attack(
        calling(lambda g: feature_rows(g, np.arange(9)), value("x_indices", 3, -1), sparse=True),
        "g: x_indices holds a column outside the matrix",
    ),
    "columns_of_2_to_61": Attack(
        info(manifest(lambda c: c.update(num_feature_columns=2**61)), sparse=True),
        "g/graph.json: num_feature_columns: Input should be less than 2147483648",
    ),
    "columns_of_2_to_31": Attack(
        info(manifest(lambda c: c.update(num_feature_columns=2**31)), sparse=True),
        "g/graph.json: num_feature_columns: Input should be less than 2147483648",
    ),
    "split_id_too_large": Attack(
        training(value("split/train", 3, 10**9)), "g: split train must have node ids from 0 to 119, got 1000000000"
    ),
    "split_of_negative_ids": Attack(
        training(value("split/valid", 3, -3)), "g: split valid must have node ids from 0 to 119, got -3"
    ),
    "class_of_10_to_15": Attack(
        training(value("y", 3, 10**15)),
        "task: classes must be below 1,000,000, the graph has class 1,000,000,000,000,000",
    ),
    "label_that_is_not_finite": Attack(
        training(array("x", np.full((120, 3), np.nan, np.float32))),
        "feature_statistics: features must be finite, those of node 0 are not",
    ),
    "names_that_are_not_utf8": Attack(
        calling(names, value("node_name_text", 3, 255), named=True),
        "NodeNames: text must be UTF-8, that of row 0 is not",
    ),
    "name_offset_too_large": Attack(
        calling(names, value("node_name_ptr", 3, 2**60), named=True),
        "NodeNames: ptr must ascend from 0 to 850, it does not at row 2",
    ),
    "weights_of_two_dimensions": Attack(
        info(array("edge_weight", np.ones((810, 1), np.float32))),
        "g/graph.json: edge_weight.npy must be float32 of 1 dimensions, got float32 [810, 1]",
    ),
    "edge_ids_of_halves": Attack(
        info(array("edge_id", np.ones(810, np.float16))),
        "g/graph.json: edge_id.npy must be int64 of 1 dimensions, got float16 [810]",
    ),
    "array_of_objects": Attack(
        info(header("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }")),
        "g/indices.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "shape_that_wraps": Attack(
        info(header(E64 % (2**62))), "g/indices.npy: claims the impossible shape (4611686018427387904,)"
    ),
    "shape_of_a_huge_power": Attack(
        info(header(E64 % "9**9**9")),
        "g/indices.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "shape_that_is_negative": Attack(
        info(header(E64 % -1)),
        "g/indices.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "header_of_deep_parentheses": Attack(
        info(header("(" * 9000 + ")" * 9000)), "g/indices.npy: has a header of 18001 bytes, more than 10000"
    ),
    "header_that_calls": Attack(
        info(header("__import__('os').system('touch pwned')")),
        "g/indices.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "version_of_npy_unknown": Attack(
        info(header(E64 % 0, version=b"\x09\x00")), "g/indices.npy: has the unknown .npy version 9.0"
    ),
    "counts_that_lie": Attack(
        info(manifest(lambda c: c.update(num_nodes=10**18))),
        "g/graph.json: says 1000000000000000000 nodes and 862 edges, the arrays hold 120 and 862",
    ),
    "shape_in_graph_json_that_lies": Attack(
        info(manifest(lambda c: c["files"]["y.npy"].update(shape=[2**61]))),
        "g/y.npy: must be int64 [2305843009213693952] as graph.json says, got int64 [120]",
    ),
    "file_name_that_leaves_the_folder": Attack(
        info(manifest(lambda c: c["files"].update({"../y.npy": c["files"]["y.npy"]}))),
        "g/graph.json: files.../y.npy.[key]: String should match pattern",
    ),
    "graph_json_of_2_mb": Attack(info(raw(" " * (2 << 20))), "g/graph.json: must have at most 1048576 bytes"),
    "graph_json_of_deep_lists": Attack(info(raw("[" * 100_000)), "g/graph.json: is not JSON"),
    "graph_json_with_a_huge_number": Attack(
        info(raw('{"format": "shadow-graph", "version": 1' + "0" * 9000 + "}")), "g/graph.json: is not JSON"
    ),
    "graph_json_that_is_not_text": Attack(info(raw(bytes(range(256)))), "g/graph.json: is not JSON"),
    "graph_json_of_another_program": Attack(
        info(raw(json.dumps({"format": "dgl"}))), "g/graph.json: is not the graph.json of a graph folder"
    ),
    "link_in_the_place_of_an_array": Attack(
        info(linked("y.npy")), "g/y.npy: cannot be read: Too many levels of symbolic links"
    ),
    "link_in_the_place_of_graph_json": Attack(
        info(linked("graph.json")), "g/graph.json: cannot be read: Too many levels of symbolic links"
    ),
    "pipe_in_the_place_of_an_array": Attack(info(fifo), "g/y.npy: cannot be read: not a regular file"),
    "files_swapped": Attack(
        info(swapped), "g/pairs/a.npy: was edited or damaged: the checksum from byte 0 on does not fit"
    ),
}
