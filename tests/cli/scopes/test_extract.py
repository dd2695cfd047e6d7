"""`shadow extract`: the table, JSON and PNG, choice of targets, and every fault as one line."""

import inspect
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.cli import called

from shadow_gnn.cli.scopes.extract import extract_command
from shadow_gnn.extract import KINDS
from shadow_gnn.extract.options import options_of
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames
from shadow_gnn.graph.store import open_graph, save_graph


@pytest.fixture
def folder(tmp_path):
    """0 - 1 - 2 - 3 and 4 alone, with a split."""
    graph = Graph(
        np.array([0, 1, 3, 5, 6, 6]),
        np.array([1, 0, 2, 1, 3, 2], dtype=np.int32),
        splits={"train": np.array([0, 1]), "valid": np.array([2]), "test": np.array([4])},
    )
    save_graph(graph, tmp_path / "g")
    return tmp_path / "g"


run = partial(called.run, "extract")
fault = partial(called.fault, "extract")
numbers = partial(called.numbers, "extract")


def test_prints_a_table(folder):
    result = run(folder)
    assert result.exit_code == 0
    assert "5 targets, ppr/" in result.stdout
    assert "recall against exact PPR on 5 targets" in result.stdout
    for word in ("nodes", "edges", "depth", "edges touched", "mass share", "nodes by hop"):
        assert word in result.stdout


@pytest.mark.parametrize(
    "kind", ["ppr", "khop", "stochastic-ppr", "node", "full", "katz", "heat", "combined", "rwr", "simrank"]
)
def test_every_extractor_with_its_defaults(folder, kind):
    found = numbers(folder, "--extractor", kind)
    assert found["num_targets"] == 5
    assert found["num_nodes"]["max"] == {"node": 1, "khop": 4, "full": 4}.get(kind, 4)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('{topk = 3, threshold = 0.5, threshold_kind = "absolute"}', "ppr/1 topk=3 teleport=0.2609 threshold=0.5 "),
        ('{kind = "khop", num_hops = 1, fanout = 1, replace = true}', "num_hops=1 fanout=1 replace=True"),
        ('{kind = "rwr", topk = 3, teleport = 0.3, num_walks = 9}', "topk=3 teleport=0.3 num_walks=9"),
        ('{kind = "simrank", topk = 3, walk_length = 2, candidates = 7}', "walk_length=2 candidates=7"),
        ('{kind = "fire", forward = 0.3, backward = 0.2, max_nodes = 3}', "forward=0.3 backward=0.2 max_nodes=3"),
        ('{kind = "combined", topk = 2, parts = [{extractor = {kind = "heat"}}]}', "1.0 * (heat/1 topk=2 t=3.0 "),
    ],
)
def test_options_reach_the_extractor(folder, table, key):
    assert key in numbers(folder, "--extractor", table)["extractor"]


def test_the_extractor_of_a_recipe(folder, tmp_path):
    (tmp_path / "r.toml").write_text('graph = "any"\nextractor = {kind = "full", num_hops = 1}\n')
    assert numbers(folder, "--recipe", tmp_path / "r.toml")["extractor"] == "full/1 num_hops=1 max_nodes=None"
    assert "without --recipe" in fault(folder, "--recipe", tmp_path / "r.toml", "--extractor", "ppr")
    (tmp_path / "b.toml").write_text('graph = "any"\n[[branches]]\n[[branches]]\n')
    assert "must have one extractor" in fault(folder, "--recipe", tmp_path / "b.toml")


def test_help_lists_every_kind_with_its_options_and_there_are_few_others():
    text = run("--help").stdout
    for kind, owner in KINDS.items():
        assert f"{kind}: " in text
        assert all(f"{option.name}" in text for option in options_of(owner) if option.in_recipe)
    assert "0.2609" in text
    assert len(inspect.signature(extract_command).parameters) <= 12


def test_writes_json_and_png(folder, tmp_path):
    result = run(folder, "--json", "--plot", tmp_path / "s.png", "--threads", 1)
    assert result.exit_code == 0
    assert "targets" in result.stdout
    assert json.loads(result.stdout)["num_targets"] == 5
    assert (tmp_path / "s.png").read_bytes()[:4] == b"\x89PNG"


def test_targets_by_split_ids_and_file(folder, tmp_path):
    full = (folder, "--extractor", "full", "--targets")
    assert numbers(*full, "test")["num_nodes"]["max"] == 1
    assert numbers(*full, "0,4")["num_nodes"]["mean"] == 2
    (tmp_path / "ids.txt").write_text("0\n\n4\n")
    assert numbers(*full, tmp_path / "ids.txt")["num_nodes"]["mean"] == 2
    np.save(tmp_path / "ids.npy", np.array([0, 4], dtype=np.int32))
    assert numbers(*full, tmp_path / "ids.npy")["num_nodes"]["mean"] == 2


def test_draw_depends_on_seed_alone(folder):
    draws = [numbers(folder, "--extractor", "full", "--num-targets", 2, "--seed", seed) for seed in (1, 1, 2, 3, 4)]
    sizes = [draw["num_nodes"] for draw in draws]
    assert [draw["num_targets"] for draw in draws] == [2] * 5
    assert sizes[0] == sizes[1]
    assert any(size != sizes[0] for size in sizes)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--extractor", '{kind = "khop", topk = 3}'), "extract: extractor.topk: unknown key of khop; ppr, "),
        (("--extractor", "{fanout = 3}"), "extractor.fanout: unknown key of ppr; khop would have it"),
        (("--extractor", "{topkk = 3}"), "extractor.topkk: unknown key; did you mean topk?"),
        (("--extractor", "pprr"), "extract: extractor: kind must be ppr, stochastic-ppr, "),
        (("--extractor", "{kind = }"), "extract: --extractor must be a kind or a TOML table, got '{kind = }'"),
        (("--extractor", '{kind = "file"}'), "extractor.path: must be set"),
        (("--extractor", '{kind = "katz", attenuation = 9}'), "attenuation must be below 1 / spectral radius"),
        (("--extractor", "{topk = 0}"), "extractor.topk: must be at least 1, got 0"),
        (("--targets", "nope"), "must be one of all, train, valid, test, a file, or ids such as 3,17; got 'nope'"),
        (("--targets", "5"), "targets must be node ids from 0 to 4, got 5"),
    ],
)
def test_faults_are_one_clear_line(folder, arguments, text):
    found = fault(folder, *arguments)
    assert text in found
    assert "\n" not in found


def test_faulty_target_files_are_named(folder, tmp_path):
    (tmp_path / "ids.txt").write_text("0\n-1\n")
    assert "ids.txt: line 2 must be one node id, got '-1'" in fault(folder, "--targets", tmp_path / "ids.txt")
    np.save(tmp_path / "ids.npy", np.array([0.5]))
    assert "must hold a 1-D array of integer node ids" in fault(folder, "--targets", tmp_path / "ids.npy")
    (tmp_path / "bad.npy").write_bytes(b"no")
    assert "bad.npy: is not a .npy file" in fault(folder, "--targets", tmp_path / "bad.npy")
    (tmp_path / "none.txt").write_text("")
    assert "must name at least one node" in fault(folder, "--targets", tmp_path / "none.txt")


def test_in_a_process_of_its_own(folder):
    code = "from shadow_gnn.cli.main import main; main()"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))

    def call(*arguments):
        command = [sys.executable, "-c", code, "extract", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    done = call("--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["num_targets"] == 5
    failed = call("--extractor", "{num_hops = 3}")
    assert failed.returncode == 2
    line = "extract: extractor.num_hops: unknown key of ppr; khop or full would have it"
    assert failed.stderr.splitlines()[-1].endswith(line)


def test_similar_and_another_graph_to_choose_in(folder, tmp_path):
    graph = open_graph(folder)
    x = DenseFeatures(np.arange(10, dtype=np.float32).reshape(5, 2))
    save_graph(replace(graph, x=x, path=None), tmp_path / "x")
    index = f'{{kind = "similar", topk = 2, candidates = 3, index = "{tmp_path / "x"}"}}'
    found = numbers(tmp_path / "x", "--extractor", index)
    assert found["extractor"].startswith("similar/1 topk=2 candidates=3 ")
    assert found["num_nodes"]["max"] == 2
    table = f'{{kind = "full", scope_graph = "{tmp_path / "x"}", scope_edges = "scope_graph"}}'
    assert "scope_edges=scope_graph" in numbers(folder, "--extractor", table)["extractor"]
    assert "features to compare" in fault(folder, "--extractor", "similar")
    assert 'scope_edges must be "graph" without' in fault(folder, "--extractor", '{scope_edges = "scope_graph"}')


def test_seeds_show_one_scope_with_scores_and_edges(folder):
    found = numbers(folder, "--seeds", "3,1=2.5")
    assert sorted(node["id"] for node in found["nodes"]) == [0, 1, 2, 3]
    assert found["nodes"][0]["id"] == 1
    assert found["edges"] == [[0, 1], [1, 2], [2, 3]]
    assert found == numbers(folder, "--seeds", '{"1": 2.5, "3": 1}')
    shown = run(folder, "--seeds", "1")
    assert "4 nodes, 3 edges between them" in shown.stdout


def test_seeds_by_name(folder):
    named = replace(open_graph(folder), node_name=NodeNames.of(["a", "b", "c", "d", "4"]))
    save_graph(named, folder, overwrite=True)
    found = numbers(folder, "--seeds", "b,d=3", "--extractor", "{kind = 'ppr', topk = 3}")
    assert sorted(node["name"] for node in found["nodes"]) == ["b", "c", "d"]
    assert found["nodes"] == sorted(found["nodes"], key=lambda node: -node["score"])
    (alone,) = numbers(folder, "--seeds", "4")["nodes"]
    assert (alone["id"], alone["name"], alone["hop"]) == (4, "4", 0)
    assert alone["score"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("seeds", "more", "message"),
    [
        ("x", (), "--seeds must be ids of nodes, as the graph has no names, got 'x'"),
        ("9", (), "targets must be node ids from 0 to 4, got 9"),
        ("1=x", (), "--seeds must have a number as the weight of 1, got 'x'"),
        ("1=-1", (), "weight must be positive and finite, got -1.0"),
        ("{", (), "--seeds must be ids, names or a JSON object of weights"),
        ("1", ("--extractor", "full"), "--extractor must be ppr with --seeds, got full"),
    ],
)
def test_wrong_seeds_are_one_line(folder, seeds, more, message):
    assert message in fault(folder, "--seeds", seeds, *more)
