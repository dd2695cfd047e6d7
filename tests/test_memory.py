"""Predicted memory: the paper's figures, counts by hand, what is free, and the advice."""

import os
import sys

import pytest

from shadow_gnn.memory import (
    PROGRAM,
    BatchCounts,
    GraphCounts,
    Network,
    Prediction,
    available_memory,
    check_fits,
    layer_floats,
    layer_weights,
    neighbour_counts,
    predict_batches,
    predict_full,
    predict_label_propagation,
    predict_logistic,
    predict_sgc,
    predict_sign,
    readable,
    saint_counts,
    scope_counts,
)

PAPERS = GraphCounts(num_nodes=111_059_956, num_edges=2 * 1_615_685_872, in_dim=128, out_dim=172)
SMALL = GraphCounts(num_nodes=100, num_edges=600, in_dim=8, out_dim=3)


def test_sign_333_on_papers100m_takes_the_papers_682_gb():
    prediction = predict_sign(PAPERS, (3, 3, 3))
    assert prediction.total == 111_059_956 * 128 * 12 * 4
    assert prediction.total // 10**9 == 682
    assert prediction.name == "sign(3,3,3)"


def test_sgc_on_papers100m_takes_the_papers_137_gb():
    parts = predict_sgc(PAPERS).parts
    whole = {name: size // 10**9 for name, size in parts.items()}
    assert whole == {"features": 56, "smoothed": 56, "adjacency": 25}
    assert sum(whole.values()) == 137


def test_sign_with_raw_features_once_saves_two_copies():
    one = 100 * 8 * 4
    assert predict_sign(SMALL, (2, 1, 0), raw_copies=1).total == 4 * one
    assert predict_sign(SMALL, (2, 1, 0)).total == 6 * one


@pytest.mark.parametrize("powers", [(1, 2), (1, -1, 0)])
def test_sign_needs_three_powers(powers):
    with pytest.raises(ValueError, match=r"^predict_sign: powers must be three numbers of at least 0, got \("):
        predict_sign(SMALL, powers)


def test_full_batch_of_one_gcn_layer_by_hand():
    parts = predict_full(SMALL, Network("gcn", num_layers=1, hidden_dim=16)).parts
    # Input, its sum along the edges (8 is not wider than 16), and what goes into the norm.
    assert parts["activations"] == 100 * (8 + 8 + 16) * 4
    assert parts["features"] == 100 * 8 * 4
    assert parts["gradients"] == 3 * 100 * 16 * 4
    # Map, bias, norm and head; weights, gradient, two averages, best.
    assert parts["weights"] == 5 * 4 * ((8 + 1) * 16 + 2 * 16 + (16 + 1) * 3)
    assert parts["program"] == PROGRAM


def test_wide_inputs_are_mapped_before_the_sum():
    assert layer_floats(Network("gcn", hidden_dim=16), 1000) == 1000 + 16
    assert layer_floats(Network("gcn", hidden_dim=16), 16) == 3 * 16


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gatconv", "gin", "mlp"])
def test_weights_are_counted_as_the_layer_has_them(layer):
    from shadow_gnn.build import build_model
    from shadow_gnn.recipe import ModelRecipe

    recipe = ModelRecipe(layer=layer, num_layers=2, hidden_dim=16, encoding="none", head_norm=False, standardise=False)
    model = build_model(recipe, in_dim=8, out_dim=3)
    network = Network(layer, num_layers=2, hidden_dim=16)
    expected = layer_weights(network, 8) + layer_weights(network, 16) + (16 + 1) * 3
    assert sum(weight.numel() for weight in model.parameters()) == expected


def test_every_activation_kept_for_backward_is_counted():
    """What autograd saves of a layer is what layer_floats says, for inputs that are narrower and wider."""
    import torch

    from shadow_gnn.build import build_model
    from shadow_gnn.recipe import ModelRecipe
    from tests.communities import communities

    graph = communities()
    for layer in ("gcn", "sage", "gatconv", "gin", "mlp"):
        recipe = ModelRecipe(layer=layer, num_layers=1, hidden_dim=16, dropout=0.5, encoding="none", trim=False)
        model = build_model(recipe, in_dim=3, out_dim=3).train()
        saved = {}

        def pack(tensor, saved=saved):
            if tensor.dim() >= 2 and len(tensor) == graph.num_nodes:
                saved[tensor.data_ptr()] = tensor.numel()
            return tensor

        x = torch.from_numpy(graph.x.matrix).requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            out = _one_layer(model, graph, x)
        # Means and deviations of the norms, and scores of attention, are a few numbers for each row.
        extra = sum(saved.values()) / graph.num_nodes - layer_floats(Network(layer, hidden_dim=16), 3)
        assert 0 <= extra <= 12, (layer, extra)
        assert out.shape == (graph.num_nodes, 16)


def _one_layer(model, graph, x):
    import torch

    from shadow_gnn.nn.ops import Adjacency, normalised

    layer = model.branches[0].backbone.layers[0]
    adjacency = Adjacency(torch.from_numpy(graph.indptr), torch.from_numpy(graph.indices.astype("int64")))
    kinds = {"attention": "sum", "none": "sum"}
    prepared = normalised(adjacency, kinds.get(layer.normalisation, layer.normalisation))
    if layer.normalisation == "attention":
        prepared = adjacency.with_weight(None, torch.ones(graph.num_nodes))
    return layer(x, prepared, graph.num_nodes)


def test_bigger_batches_layers_and_widths_take_more():
    network = Network("sage", num_layers=2, hidden_dim=32)
    batch = scope_counts(SMALL, 2, 4, 10)
    base = predict_batches("shadow", SMALL, network, batch).total
    assert predict_batches("shadow", SMALL, network, scope_counts(SMALL, 2, 8, 10)).total > base
    assert predict_batches("shadow", SMALL, Network("sage", 3, 32), scope_counts(SMALL, 3, 4, 10)).total > base
    assert predict_batches("shadow", SMALL, Network("sage", 2, 64), batch).total > base
    assert predict_batches("shadow", SMALL, network, batch, cached=10**6).total == base + 10**6
    assert predict_batches("shadow", SMALL, Network("sage", 2, 32, half=True), batch).total < base


def test_evaluation_counts_where_its_batches_are_larger():
    network, batch = Network("mlp", num_layers=1, hidden_dim=4), scope_counts(SMALL, 1, 100, 10)
    wide = GraphCounts(100, 600, 1000, 3)
    once = predict_batches("shadow", wide, network, batch)
    four = predict_batches("shadow", wide, network, batch, factor=4)
    assert four.parts["features"] == 4 * once.parts["features"]


def test_shadow_does_not_grow_with_the_graph_and_full_batch_does():
    network = Network("gat", num_layers=5, hidden_dim=256)
    larger = GraphCounts(PAPERS.num_nodes * 10, PAPERS.num_edges * 10, PAPERS.in_dim, PAPERS.out_dim)
    shadow = [predict_batches("shadow", graph, network, scope_counts(graph, 5, 32, 200)) for graph in (PAPERS, larger)]
    full = [predict_full(graph, network).total for graph in (PAPERS, larger)]
    assert shadow[0].total == shadow[1].total < 2 * 10**9
    assert full[1] > 9 * full[0]


def test_a_graph_in_memory_is_counted():
    held = GraphCounts(100, 600, 8, 3, mapped=False)
    network = Network()
    difference = predict_full(held, network).total - predict_full(SMALL, network).total
    assert difference == 100 * (8 * 4 + 8) + 600 * 4


def test_sampled_batches_by_hand():
    assert neighbour_counts(SMALL, 2, 4, 3) == BatchCounts((64, 16, 4), 64, 4 * 3 + 16 * 3)
    assert neighbour_counts(SMALL, 2, 50, 100) == BatchCounts((100, 100, 50), 100, 600)
    assert saint_counts(SMALL, 2, 30) == BatchCounts((30, 30, 30), 30, 180)
    assert scope_counts(SMALL, 1, 4, 3) == BatchCounts((12, 12), 12, 24)


def test_small_predictions_by_hand():
    assert predict_logistic(SMALL, 50).total == 2 * 50 * 8 * 4 + 120 * 8 * 3 * 4
    assert predict_label_propagation(SMALL, 2).total == 4 * 100 * 3 * 4 + 12 * 600


@pytest.mark.parametrize("name", ["num_layers", "hidden_dim", "num_heads"])
def test_network_needs_positive_numbers(name):
    with pytest.raises(ValueError, match=f"^Network: {name} must be at least 1, got 0$"):
        Network(**{name: 0})


def test_what_fits_passes_and_what_does_not_comes_with_advice():
    prediction = Prediction("full", {"activations": 30 * 10**9, "weights": 10**9})
    check_fits(prediction, 31 * 10**9)
    check_fits(prediction, None)
    with pytest.raises(
        ValueError, match=r"^memory: full needs about 31 GB \(30 GB of it activations\), got 8 GB; try"
    ) as fault:
        check_fits(prediction, 8 * 10**9)
    assert 'training.method = "shadow"' in str(fault.value)
    with pytest.raises(ValueError, match=r"try fewer layers$"):
        check_fits(prediction, 1, advice=["fewer layers"])


@pytest.mark.parametrize(
    ("prediction", "word"),
    [
        (Prediction("shadow", {"activations": 10}), "a lower training.batch_size"),
        (Prediction("shadow", {"cached scopes": 10, "weights": 1}), "a lower training.cache_megabytes"),
        (Prediction("saint", {"activations": 10}), 'training.method = "shadow"'),
        (Prediction("sign(3,3,3)", {"features": 10}), "fewer powers"),
    ],
)
def test_advice_is_for_the_way_of_training(prediction, word):
    with pytest.raises(ValueError, match=r"^memory: ") as fault:
        check_fits(prediction, 1)
    assert word in str(fault.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 kB"),
        (25_850_000_000, "26 GB"),
        (682 * 10**9, "682 GB"),
        (10**15, "1000 TB"),
    ],
)
def test_bytes_are_written_as_people_do(size, text):
    assert readable(size) == text


def system(root, available_kb=8_000_000, groups=""):
    """Lay out /proc below a folder."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 16000000 kB\nMemAvailable: {available_kb} kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    return root


def group(path, **files):
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(str(text))


def test_free_memory_is_what_the_system_says(tmp_path):
    assert available_memory(system(tmp_path)) == 8_000_000 * 1024


def test_limit_of_a_control_group_counts(tmp_path):
    system(tmp_path, groups="0::/a/b\n")
    group(tmp_path / "sys/fs/cgroup/a/b", memory__max="max", memory__current=5)
    (tmp_path / "sys/fs/cgroup/a/memory.max").write_text("3000000\n")
    (tmp_path / "sys/fs/cgroup/a/memory.current").write_text("1000000\n")
    (tmp_path / "sys/fs/cgroup/a/memory.stat").write_text("anon 7\ninactive_file 500000\n")
    assert available_memory(tmp_path) == 2_500_000


def test_limit_of_an_old_control_group_counts(tmp_path):
    system(tmp_path, groups="11:cpu,cpuacct:/x\n5:memory:/x\n")
    files = {"memory__limit_in_bytes": 3_000_000, "memory__usage_in_bytes": 4_000_000}
    group(tmp_path / "sys/fs/cgroup/memory/x", **files)
    assert available_memory(tmp_path) == 0
    (tmp_path / "sys/fs/cgroup/memory/x/memory.limit_in_bytes").write_text(str(2**63 - 4096))
    assert available_memory(tmp_path) == 8_000_000 * 1024


def test_other_systems_are_asked_in_portable_ways(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert available_memory(tmp_path) == pytest.approx(
        os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.5
    )
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    assert available_memory(tmp_path) == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
