"""`shadow extract`: the table, JSON and PNG, choice of targets, and every fault as one line."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.cli import called

from shadow_gnn.graph.record import DenseFeatures, Graph
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


def test_options_reach_the_extractor(folder):
    key = numbers(
        *(folder, "--topk", 3, "--threshold", 0.5, "--threshold-kind", "absolute", "--teleport", 0.3),
        *("--tolerance", 1e-4, "--max-nodes", 2),
    )["extractor"]
    for part in ("topk=3", "threshold=0.5 absolute", "teleport=0.3", "tolerance=0.0001", "max_nodes=2"):
        assert part in key
    key = numbers(folder, "--extractor", "khop", "--num-hops", 1, "--fanout", 1, "--replace")["extractor"]
    assert "num_hops=1 fanout=1 replace=True" in key
    key = numbers(folder, "--extractor", "rwr", "--topk", 3, "--teleport", 0.3, "--num-walks", 9)["extractor"]
    assert "topk=3 teleport=0.3 num_walks=9" in key
    key = numbers(
        *(folder, "--extractor", "simrank", "--topk", 3, "--decay", 0.5, "--num-walks", 9, "--walk-length", 2),
        *("--candidates", 7),
    )["extractor"]
    assert "topk=3 decay=0.5 num_walks=9 walk_length=2 candidates=7" in key
    key = numbers(folder, "--extractor", "fire", "--forward", 0.3, "--backward", 0.2, "--max-nodes", 3)["extractor"]
    assert "forward=0.3 backward=0.2 max_nodes=3" in key
    assert "precision=0.5" in numbers(folder, "--precision", 0.5)["extractor"]


def test_writes_json_and_png(folder, tmp_path):
    result = run(folder, "--json", tmp_path / "s.json", "--png", tmp_path / "s.png", "--threads", 1)
    assert result.exit_code == 0
    assert "targets" in result.stdout
    assert json.loads((tmp_path / "s.json").read_text())["num_targets"] == 5
    assert (tmp_path / "s.png").read_bytes()[:4] == b"\x89PNG"


def test_targets_by_split_ids_and_file(folder, tmp_path):
    full = (folder, "--extractor", "full", "--targets")
    assert numbers(*full, "test")["num_nodes"]["max"] == 1
    assert numbers(*full, "0,4")["num_nodes"]["mean"] == 2
    (tmp_path / "ids.txt").write_text("0\n\n4\n")
    assert numbers(*full, tmp_path / "ids.txt")["num_nodes"]["mean"] == 2
    np.save(tmp_path / "ids.npy", np.array([0, 4], dtype=np.int32))
    assert numbers(*full, tmp_path / "ids.npy")["num_nodes"]["mean"] == 2


def test_parts_are_added_with_the_same_topk(folder):
    key = numbers(folder, "--extractor", "combined", "--part", "heat", "--part", "node", "--topk", 2)["extractor"]
    assert key.startswith("combined/1 topk=2 ")
    assert "1.0 * (heat/1 topk=2 t=3.0 " in key
    assert "1.0 * (node/1" in key


def test_draw_depends_on_seed_alone(folder):
    draws = [numbers(folder, "--extractor", "full", "--num-targets", 2, "--seed", seed) for seed in (1, 1, 2, 3, 4)]
    sizes = [draw["num_nodes"] for draw in draws]
    assert [draw["num_targets"] for draw in draws] == [2] * 5
    assert sizes[0] == sizes[1]
    assert any(size != sizes[0] for size in sizes)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("--extractor", "khop", "--topk", "3"),
            "--topk must be used with ppr or stochastic-ppr or ",
        ),
        (("--fanout", "3"), "--fanout must be used with khop, got --extractor ppr"),
        (("--extractor", "full", "--no-replace"), "--replace must be used with khop, got --extractor full"),
        (("--extractor", "node", "--max-nodes", "3"), "--max-nodes must be used with ppr or stochastic-ppr or khop"),
        (("--tolerance", "1e-3", "--precision", "0.1"), "--tolerance must be used without --precision"),
        (("--t", "2"), "--t must be used with heat, got --extractor ppr"),
        (("--part", "ppr"), "--part must be used with combined, got --extractor ppr"),
        (("--extractor", "combined", "--part", "combined"), "--part must name another extractor than combined"),
        (("--extractor", "katz", "--attenuation", "9"), "attenuation must be below 1 / spectral radius"),
        (("--topk", "0"), "topk must be at least 1, got 0"),
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

    done = call("--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["num_targets"] == 5
    failed = call("--num-hops", "3")
    assert failed.returncode == 2
    assert failed.stderr == "shadow: extract: --num-hops must be used with khop or full, got --extractor ppr\n"


def test_similar_and_another_graph_to_choose_in(folder, tmp_path):
    graph = open_graph(folder)
    x = DenseFeatures(np.arange(10, dtype=np.float32).reshape(5, 2))
    save_graph(replace(graph, x=x, path=None), tmp_path / "x")
    found = numbers(
        tmp_path / "x", "--extractor", "similar", "--topk", "2", "--candidates", "3", "--index", tmp_path / "x"
    )
    assert found["extractor"].startswith("similar/1 topk=2 candidates=3 ")
    assert found["num_nodes"]["max"] == 2
    other = numbers(folder, "--extractor", "full", "--scope-graph", tmp_path / "x", "--scope-edges", "scope_graph")
    assert "scope_edges=scope_graph" in other["extractor"]
    assert "features to compare" in fault(folder, "--extractor", "similar")
    assert "--scope-edges must be used with --scope-graph, got none" in fault(folder, "--scope-edges", "graph")
