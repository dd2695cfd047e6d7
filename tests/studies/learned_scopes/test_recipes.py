"""The recipes of the two phases are those of the one recipe, but for what a phase must change."""

import pytest
from tests.communities import small_recipe

from shadow_gnn.extract import (
    FileExtractor,
    FullExtractor,
    KhopExtractor,
    NodeExtractor,
    PprExtractor,
    StochasticPprExtractor,
)
from shadow_gnn.studies.learned_scopes.recipes import (
    candidate_extractor,
    check_recipe,
    learned_recipe,
    normal_recipe,
    scope_size,
)


def test_phase_1_has_the_same_layers_without_scopes():
    recipe = small_recipe(
        model__layer="gat", model__skip="max", model__readout="mean", inputs={"smooth": 1, "degree": True}
    )
    normal = normal_recipe(recipe, "neighbor")
    assert normal.is_normal
    assert normal.extractor is None
    kept = ("layer", "num_layers", "hidden_dim", "skip", "dropout")
    assert all(getattr(normal.model, name) == getattr(recipe.model, name) for name in kept)
    assert (normal.model.encoding, normal.model.readout) == ("none", "center")
    assert (normal.inputs.smooth, normal.inputs.degree) == (1, False)
    assert normal.training.num_epochs == 3


def test_an_epoch_of_the_whole_graph_is_one_step_so_there_are_more_of_them():
    full = normal_recipe(small_recipe(), "full").training
    assert (full.num_epochs, full.evaluate_every, full.checkpoint_every) == (100, 5, 5)
    assert normal_recipe(small_recipe(), "full", 7).training.num_epochs == 7
    assert normal_recipe(small_recipe(training__num_epochs=300), "full").training.num_epochs == 300


@pytest.mark.parametrize(
    ("extractor", "size", "widened"),
    [
        (PprExtractor(topk=50, max_nodes=20), 50, PprExtractor(topk=400)),
        (StochasticPprExtractor(topk=9), 9, StochasticPprExtractor(topk=400)),
        (KhopExtractor(fanout=3), 200, KhopExtractor(fanout=3, max_nodes=400)),
        (FullExtractor(max_nodes=30), 30, FullExtractor(max_nodes=400)),
        (FileExtractor(path="s", topk=5), 5, FileExtractor(path="s", topk=400)),
    ],
)
def test_candidates_are_more_nodes_of_the_same_extractor(extractor, size, widened):
    assert scope_size(extractor) == size
    assert candidate_extractor(extractor, 400) == widened


def test_phase_2_is_the_recipe_on_the_scope_file(tmp_path):
    recipe = small_recipe(task__inductive=True)
    learned = learned_recipe(recipe, tmp_path / "s", 7)
    assert learned.extractor == FileExtractor(path=str(tmp_path / "s"), topk=7, other_graph=True)
    assert learned.model_copy(update={"extractor": recipe.extractor}) == recipe


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        (small_recipe(model__layer="mlp"), 'model.layer must read messages, got "mlp"'),
        (small_recipe(model__layer="transformer"), 'model.layer must read messages, got "transformer"'),
        (small_recipe(task={"kind": "link"}), 'task.kind must be "node", got "link"'),
        (small_recipe(extractor=None, training__method="full"), 'training.method must be "shadow", got "full"'),
        (small_recipe(extractor=None, branches=[{}, {}]), "branches must be left out, got 2"),
    ],
)
def test_what_has_no_learned_scopes_is_one_line(recipe, text):
    with pytest.raises(ValueError, match=f"learn-scope: {text}"):
        check_recipe(recipe)


def test_a_scope_of_the_target_alone_cannot_be_widened():
    with pytest.raises(ValueError, match="extractor must have topk or max_nodes to widen, got kind 'node'"):
        candidate_extractor(NodeExtractor(), 400)
