"""Hostile options of commands: numbers without end, deep texts, names that leave their place, files that are none."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from tests.attacks.attempt import Attack, shadow
from tests.communities import communities, small_recipe

from shadow_gnn.graph.record import NodeNames
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.training.runs.run import RunOptions, train_recipe

Build = Callable[[Path], Callable[[], object]]

DEEP = "[" * 100_000


def on_graph(*arguments: str, named: bool = False, **files: str | bytes) -> Build:
    """Return an attack on a command in a folder with the graph `g`, a recipe and some files; __ in a name is a dot."""

    def build(place: Path) -> Callable[[], object]:
        graph = communities()
        if named:
            graph = replace(graph, node_name=NodeNames.of([f"n{node}" for node in range(120)]))
        save_graph(graph, place / "g")
        (place / "r.toml").write_text(write_recipe(small_recipe(graph="g")))
        for name, data in files.items():
            (place / name.replace("__", ".")).write_bytes(data if isinstance(data, bytes) else data.encode())
        return shadow(*arguments)

    return build


@cache
def trained(folder: Path) -> Path:
    """Train a small run once."""
    save_graph(communities(), folder / "g")
    recipe = small_recipe(graph=str(folder / "g"), training__num_epochs=1)
    return train_recipe(recipe, folder / "run", options=RunOptions(graph=communities())).folder


def on_run(*arguments: str, **files: str | bytes) -> Build:
    """Return an attack on a command in a folder with the run `run` as well."""

    def build(place: Path) -> Callable[[], object]:
        action = on_graph(*arguments, **files)(place)
        shutil.copytree(trained(place.parent / "trained"), place / "run")
        return action

    return build


def seeds(text: str) -> Build:
    """Return an attack by the seeds of a retrieval."""
    return on_graph("extract", "g", "--seeds", text)


def targets(text: str, **files: str | bytes) -> Build:
    """Return an attack by targets."""
    return on_graph("extract", "g", "--targets", text, **files)


def npy(array: np.ndarray) -> bytes:
    """Return the bytes of a .npy file."""

    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


ATTACKS = {
    "memory_of_infinite_bytes": Attack(
        on_graph("data", "import", "e.csv", "out", "--memory", "9" * 400 + "GB", e__csv="0,1\n"),
        "import: --memory must be from 1MB to below 10^18 bytes, got '9999999999",
    ),
    "memory_of_nothing": Attack(
        on_graph("data", "import", "e.csv", "out", "--memory", "0GB", e__csv="0,1\n"),
        "import: --memory must be from 1MB to below 10^18 bytes, got '0GB'",
    ),
    "shares_beyond_the_whole": Attack(
        on_graph("data", "import", "e.csv", "out", "--split", "60/60/60", e__csv="0,1\n"),
        "split: shares must be percentages that sum to at most 100, got (60.0, 60.0, 60.0)",
    ),
    "shares_that_are_no_numbers": Attack(
        on_graph("data", "import", "e.csv", "out", "--split", "nan/nan/nan", e__csv="0,1\n"),
        "split: shares must be percentages that sum to at most 100, got (nan, nan, nan)",
    ),
    "delimiter_of_many_characters": Attack(
        on_graph("data", "import", "e.csv", "out", "--delimiter", "ab", e__csv="0,1\n"),
        "e.csv: delimiter must be one character other than a quote or a line end, got 'ab'",
    ),
    "generated_nodes_without_end": Attack(
        on_graph("data", "generate", "dcsbm", "--nodes", "1e400", "--out", "out"),
        "generate: --nodes must be a whole number such as 1000000 or 1e6, got '1e400'",
    ),
    "generated_nodes_beyond_64_bits": Attack(
        on_graph("data", "generate", "dcsbm", "--nodes", "1e30", "--out", "out"),
        "generate: --nodes must be a whole number such as 1000000 or 1e6, got '1e30'",
    ),
    "seeds_of_deep_lists": Attack(
        seeds('{"a": ' + DEEP),
        "extract: --seeds must be ids, names or a JSON object of weights: maximum recursion depth",
    ),
    "seeds_of_no_weight": Attack(
        seeds('{"3": null}'), "extract: --seeds must have a number as the weight of 3, got None"
    ),
    "seeds_of_an_infinite_weight": Attack(
        seeds('{"3": Infinity}'), "Seeds: weight must be positive and finite, got inf"
    ),
    "seeds_of_a_negative_weight": Attack(seeds("3=-1"), "Seeds: weight must be positive and finite, got -1.0"),
    "seeds_beyond_64_bits": Attack(
        seeds("9" * 30), "extract: --seeds must be ids of nodes, as the graph has no names, got '99999"
    ),
    "seeds_of_5000_digits": Attack(
        seeds("9" * 5000), "extract: --seeds must be ids of nodes, as the graph has no names, got '99999"
    ),
    "seeds_of_nothing": Attack(seeds("{}"), "extract: --seeds must name at least one node, got none"),
    "targets_beyond_64_bits": Attack(
        targets("9" * 30), "extract: --targets must be one of all, train, valid, test, a file, or ids such as 3,17"
    ),
    "targets_of_another_alphabet": Attack(
        targets("\u0663"), "extract: --targets must be one of all, train, valid, test, a file, or ids such as 3,17"
    ),
    "targets_of_a_cut_npy": Attack(
        targets("t.npy", t__npy=npy(np.arange(5))[:-3]), "t.npy: must have 168 bytes for shape (5,) int64, got 165"
    ),
    "targets_of_objects": Attack(
        targets("t.npy", t__npy=npy(np.arange(5)).replace(b"'<i8'", b"'|O' ")),
        "t.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "targets_of_numbers_with_a_point": Attack(
        targets("t.npy", t__npy=npy(np.arange(5.0))),
        "t.npy: must hold a 1-D array of integer node ids, got 1-D float64",
    ),
    "targets_that_are_negative": Attack(
        targets("t.npy", t__npy=npy(np.array([-1]))), "extract: targets must be node ids from 0 to 119, got -1"
    ),
    "targets_of_bytes": Attack(targets("t.txt", t__txt=bytes(range(256))), "t.txt: line 1 must be one node id, got"),
    "extractor_of_deep_lists": Attack(
        on_graph("extract", "g", "--extractor", "{a = " + DEEP),
        "extract: --extractor must be a kind or a TOML table, got",
    ),
    "extractor_that_is_no_kind": Attack(
        on_graph("extract", "g", "--extractor", "../../etc/passwd"),
        "extract: extractor: kind must be ppr, stochastic-ppr, khop, full, node",
    ),
    "extractor_of_two_tables": Attack(
        on_graph("extract", "g", "--extractor", '{kind = "ppr"}\nb = 1'),
        "extract: --extractor must be a kind or one TOML table, got",
    ),
    "change_of_deep_lists": Attack(
        on_graph("train", "r.toml", "--set", "seed=" + DEEP), "the value must be one of TOML, or a bare word"
    ),
    "change_of_no_key": Attack(
        on_graph("train", "r.toml", "--set", "=5"), "--set =5: must be a key and a value, such as model.num_layers=5"
    ),
    "change_below_a_value": Attack(
        on_graph("train", "r.toml", "--set", "seed.a.b=5"), "--set seed.a.b=5: seed must be a table to have keys"
    ),
    "change_of_a_seed_beyond_64_bits": Attack(
        on_graph("train", "r.toml", "--set", "seed=" + "9" * 40),
        "--set: seed: must be below 9007199254740992, got 9999",
    ),
    "change_of_a_private_name": Attack(
        on_graph("train", "r.toml", "--set", "__class__.x=5"), "r.toml: __class__: unknown key"
    ),
    "graph_that_is_a_device": Attack(on_graph("data", "info", "/dev/zero"), "/dev/zero: is not a folder"),
    "graph_that_is_a_recipe": Attack(on_graph("data", "info", "r.toml"), "r.toml: is not a folder"),
    "name_with_a_null_byte": Attack(
        on_graph("data", "info", "a\0b"), "must be a graph folder or one of debian, flickr"
    ),
    "recipe_that_is_a_device": Attack(on_graph("train", "/dev/zero"), "/dev/zero: cannot be read: not a regular file"),
    "out_below_a_file": Attack(
        on_graph("train", "r.toml", "--out", "r.toml/run"), "r.toml/run: cannot be written: File exists"
    ),
    "out_with_a_long_name": Attack(
        on_graph("train", "r.toml", "--out", "x" * 300), "cannot be written: File name too long"
    ),
    "space_of_deep_lists": Attack(
        on_graph("tune", "r.toml", "--space", "s.toml", s__toml="a = " + DEEP),
        "s.toml: is not TOML: maximum recursion depth exceeded",
    ),
    "space_that_is_empty": Attack(
        on_graph("tune", "r.toml", "--space", "s.toml", s__toml=""),
        "s.toml: must have at least one key, such as model.dropout = [0.1, 0.2]",
    ),
    "space_that_sets_the_graph": Attack(
        on_graph("tune", "r.toml", "--space", "s.toml", s__toml='graph = ["/etc"]\n'),
        "s.toml: graph: must not be searched: validation cannot choose between its values",
    ),
    "token_that_is_short": Attack(
        on_run("serve", "run", "--port", "0", "--token-file", "t", t="abc"),
        "serve: t must hold a token of at least 16 printable ASCII characters",
    ),
    "predictions_in_an_unknown_form": Attack(
        on_run("predict", "run", "--out", "p.pickle"), "predict: out must end in .parquet or .csv, got p.pickle"
    ),
    "predictions_of_a_foreign_table": Attack(
        on_run("ensemble", "run", "p.csv", "--out", "o.csv", p__csv="a,b\n1,2\n"),
        "p.csv: is not a table of predictions: it has no node_id",
    ),
    "predictions_of_a_damaged_table": Attack(
        on_run("ensemble", "run", "p.parquet", "--out", "o.csv", p__parquet=b"PAR1" + bytes(50)),
        "p.parquet: cannot be read: Parquet magic bytes not found in footer",
    ),
    "explained_class_that_is_none": Attack(
        on_run("explain", "run", "--node", "1", "--class", "99"), "explain: class must be from 0 to 2, got 99"
    ),
    "explained_node_that_is_none": Attack(
        on_run("explain", "run", "--node", "5000"), "explain: --node must name a node id from 0 to 119, got '5000'"
    ),
    "picture_in_an_unknown_form": Attack(
        on_graph("draw", "g", "1", "--plot", "p.exe"), "--plot must end in .png, .svg or .pdf, got p.exe"
    ),
}
