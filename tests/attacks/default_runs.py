"""Hostile folders of the default, which has several models, and facts of models that lie; checksums fit."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.attacks.attempt import Attack, shadow
from tests.attacks.run_folders import config
from tests.communities import communities, small_recipe, with_labels

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.graph.record import NodeNames
from shadow_gnn.graph.store import save_graph
from shadow_gnn.training.runs.run import train_recipe

Build = Callable[[Path], Callable[[], object]]
Change = Callable[[Path], object]

DEEP = b"[" * 100_000


@cache
def trained(folder: Path) -> Path:
    """Train the default on a small graph once."""
    from tests.serve.runs import train_hybrid_run

    return train_hybrid_run(folder, communities(60), "training.num_epochs=1", "model.num_layers=1")


def default(change: Change, *arguments: str) -> Build:
    """Return an attack on a command that reads a changed folder of the default."""

    def build(place: Path) -> Callable[[], object]:
        source = trained(place.parent / "trained default")
        shutil.copytree(source / "run", place / "run")
        change(place / "run")
        given = arguments or ("predict", "run", "--out", "p.csv")
        return shadow(*given, "--graph", str(source / "g"))

    return build


def content(name: str, **changes: Any) -> Change:
    """Return a change of a checked file of JSON, with a checksum that fits; None takes a key away."""

    def change(run: Path) -> None:
        found = json.loads((run / name).read_text()) | changes
        del found["checksum"]
        (run / name).write_bytes(dump_checked({key: value for key, value in found.items() if value is not None}))

    return change


def data(name: str, written: bytes) -> Change:
    """Return a change of a whole file."""
    return lambda run: (run / name).write_bytes(written)


def flipped(name: str) -> Change:
    """Return a change of one bit in the middle of a file."""

    def change(run: Path) -> None:
        found = bytearray((run / name).read_bytes())
        found[len(found) // 2] ^= 1
        (run / name).write_bytes(found)

    return change


def swapped(run: Path) -> None:
    """Let two models have each other's name."""
    (run / "scopes").rename(run / "other")
    (run / "normal").rename(run / "scopes")
    (run / "other").rename(run / "normal")


@cache
def trained_on(folder: Path, kind: str, named: bool) -> Path:
    """Train a run, which keeps facts about its graph, once for each kind of labels."""
    graph = with_labels(communities(60), kind)
    if named:
        graph = replace(graph, node_name=NodeNames.of([f"n{node}" for node in range(60)]))
    save_graph(graph, folder / "g")
    train_recipe(small_recipe(graph=str(folder / "g"), training__num_epochs=1), folder / "run")
    return folder


def facts(change: Change, kind: str = "classes", *, named: bool = False) -> Build:
    """Return an attack on `shadow evaluate` by a model whose config.json lies."""

    def build(place: Path) -> Callable[[], object]:
        source = trained_on(place.parent / f"trained {kind} {named}", kind, named)
        shutil.copytree(source / "run", place / "run")
        change(place / "run")
        return shadow("evaluate", "run")

    return build


def fact(**changes: Any) -> Change:
    """Return a change of the facts about the graph of training, with a checksum that fits."""

    def change(run: Path) -> None:
        found = json.loads((run / "config.json").read_text())
        config(trained_on=found["trained_on"] | changes)(run)

    return change


def packed(flags: bytes) -> str:
    """Return flags of nodes as a model keeps them."""
    return base64.b64encode(zlib.compress(flags)).decode()


ATTACKS = {
    "default_without_its_record": Attack(
        default(lambda run: (run / "hybrid.json").unlink()), "run: is not a run folder: it has no run.json"
    ),
    "default_record_with_a_flipped_bit": Attack(default(flipped("hybrid.json")), "run/hybrid.json: is not JSON"),
    "default_record_of_deep_lists": Attack(
        default(data("hybrid.json", DEEP)), "run/hybrid.json: is not JSON: maximum recursion depth exceeded"
    ),
    "default_record_of_another_version": Attack(
        default(content("hybrid.json", version=9)),
        "run/hybrid.json: must be a hybrid of version 2; it is from another shadow-gnn",
    ),
    "default_members_that_leave_the_folder": Attack(
        default(content("hybrid.json", members={"scopes": "0" * 32, "../../etc": "0" * 32})),
        "run/hybrid.json: members must be the names of its runs, got {'scopes'",
    ),
    "default_members_that_are_a_list": Attack(
        default(content("hybrid.json", members=["scopes"])),
        "run/hybrid.json: members must be the names of its runs, got ['scopes']",
    ),
    "default_without_the_model_on_scopes": Attack(
        default(content("hybrid.json", members={"normal": "0" * 32})),
        "run/hybrid.json: members must be the names of its runs, got {'normal'",
    ),
    "default_member_with_a_changed_recipe": Attack(
        default(lambda run: (run / "scopes.toml").write_text((run / "scopes.toml").read_text() + "\n")),
        "run/scopes.toml: was edited or damaged: its checksum does not fit; train again",
    ),
    "default_result_with_a_flipped_bit": Attack(default(flipped("result.json")), "run/result.json: is not JSON"),
    "default_result_of_deep_lists": Attack(
        default(data("result.json", DEEP)), "run/result.json: is not JSON: maximum recursion depth exceeded"
    ),
    "default_without_a_result": Attack(
        default(lambda run: (run / "result.json").unlink()), "run: is not finished; continue with shadow resume run"
    ),
    "default_weights_of_other_members": Attack(
        default(content("result.json", weights={"scopes": 1.0})),
        "run/result.json: weights must be shares of normal, scopes that sum to 1, got {'scopes'",
    ),
    "default_weights_of_text": Attack(
        default(content("result.json", weights={"scopes": "1", "normal": "0"})),
        "run/result.json: weights must be shares of normal, scopes that sum to 1, got",
    ),
    "default_weights_that_are_infinite": Attack(
        default(content("result.json", weights={"scopes": float("inf"), "normal": float("-inf")})),
        "run/result.json: weights must be shares of normal, scopes that sum to 1, got",
    ),
    "default_weights_beyond_the_whole": Attack(
        default(content("result.json", weights={"scopes": 3.0, "normal": -2.0})),
        "run/result.json: weights must be shares of normal, scopes that sum to 1, got",
    ),
    "default_thresholds_of_text": Attack(
        default(content("result.json", thresholds="all")), "run/result.json: thresholds must be numbers, got 'all'"
    ),
    "default_thresholds_of_another_number": Attack(
        default(content("result.json", thresholds=[0.5] * 99)),
        "run/result.json: thresholds must be 3, one for each label, got 99",
    ),
    "default_with_swapped_models": Attack(default(swapped), "must be the run of normal.toml, it is another one"),
    "default_without_a_member": Attack(
        default(lambda run: shutil.rmtree(run / "normal")), "run/normal: no such folder"
    ),
    "default_member_with_a_flipped_weight": Attack(
        default(flipped("normal/model.safetensors")),
        "run/normal/model.safetensors: was edited or damaged: its checksum does not match",
    ),
    "default_member_with_a_flipped_config": Attack(
        default(flipped("scopes/config.json")),
        "run/scopes/config.json: was edited or damaged: its checksum does not fit",
    ),
    "facts_of_flags_that_are_not_packed": Attack(
        facts(fact(train_nodes="****")), "model: trained_on.train_nodes must be packed flags of nodes"
    ),
    "facts_of_hashes_that_are_cut": Attack(
        facts(fact(train_names="AAAA"), named=True),
        "model: trained_on.train_names must be packed hashes of names: cannot reshape",
    ),
    "facts_of_means_without_deviations": Attack(
        facts(fact(column_mean=[1.0], column_deviation=[])),
        "run/config.json: trained_on: column_mean must have 0 values",
    ),
    "facts_of_a_sample_of_no_nodes": Attack(
        facts(fact(sample_id=[])),
        "run/config.json: trained_on: sample_row must have 0 values, as sample_id",
    ),
    "facts_of_a_directed_graph": Attack(
        facts(fact(directed=True)), "g: must be directed, as the model was trained on, got undirected"
    ),
    "model_of_too_few_class_names": Attack(
        facts(config(class_names=["a"])), "class_names must be 3, one for each output, got 1"
    ),
    "model_of_too_few_thresholds": Attack(
        facts(config(label_thresholds=[0.5] * 7), "multilabel"),
        "label_thresholds must be 2, one for each output, got 7",
    ),
    "model_of_a_mean_that_is_no_number": Attack(
        facts(config(value_mean=float("nan")), "values"), "run/config.json: value_mean: Input should be a finite number"
    ),
    "model_of_classes_for_values": Attack(
        facts(config(target="values")), "labels must be values, as the model predicts, got classes"
    ),
    "model_of_nodes_for_links": Attack(
        facts(config(target="links")),
        "run/model.safetensors: weight branches.0.readout.dense.linear.weight must have shape (8, 8)",
    ),
}
