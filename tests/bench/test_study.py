"""The study of bench/study: jobs, search, plan, results and page on synthetic results."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from tests.communities import communities

from shadow_gnn.base.errors import SourceError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "study"))

from study_findings import chosen_trial, compare, measured  # noqa: E402
from study_graphs import GRAPHS, StudyGraph, random_splits  # noqa: E402
from study_jobs import DEFAULT, LAYERS, METHODS, Cell, Job, job_of, recipe_of, search  # noqa: E402
from study_page import page  # noqa: E402
from study_plan import CORE, FULL, MAIN, PAPER_CELLS, Plan, check_settings, jobs_left, progress  # noqa: E402
from study_results import Result, ResultStore, from_line, packed, to_line, unpacked  # noqa: E402

SMALL = Plan({"a": StudyGraph("a", 10), "b": StudyGraph("b", 1000)}, MAIN, ("sage",), (3, 5), 2, 2, 3)
NUM_NODES = 400


def synthetic(job, skill=0.8, plan=SMALL, fault=""):
    """Return a result whose predictions are correct with a probability."""
    rng = np.random.default_rng(crc32(job.name.encode()))
    correct = {split: rng.random(NUM_NODES) < skill for split in ("valid", "test")}
    scores = {split: float(rows.mean()) for split, rows in correct.items()}
    settings = asdict(search(job.cell, plan.num_trials)[job.trial])
    if job.ending == "default":
        settings = {"weights": {"normal": 0.25, "scopes": 0.75}}
    bits = {split: packed(rows) for split, rows in correct.items()}
    return Result(
        job.name, settings, "g", fault, **scores, cpu_seconds=9.0, budget_epochs=4, curve=[[9.0, 0.8]], bits=bits
    )


def finished(plan, skill_of):
    """Do all jobs of a plan by drawing their predictions; return results by name, in the order of the work."""
    results = {}
    while left := jobs_left(plan, results):
        results[left[0].name] = synthetic(left[0], skill_of(left[0].cell), plan)
    return results


def shadow_wins(cell):
    return 0.95 if cell.is_shadow or cell.method == DEFAULT else 0.6


@pytest.fixture(scope="module")
def won():
    return finished(SMALL, shadow_wins)


def test_bits_come_back_and_damage_is_found():
    correct = np.random.default_rng(0).random(1001) < 0.9
    content = packed(correct)
    assert (unpacked(content, "x") == correct).all()
    other = packed(~correct)
    with pytest.raises(SourceError, match="x: bits must have the checksum"):
        unpacked({**content, "zlib": other["zlib"]}, "x")
    with pytest.raises(SourceError, match="x: bits are damaged"):
        unpacked({**content, "zlib": content["zlib"][:-8]}, "x")


def test_lines_of_results_come_back_and_others_are_refused():
    result = synthetic(Job(Cell("a", "full", "sage", 3), 1, "budget", 0))
    assert from_line(to_line(result), "f") == result
    for line in ("{", "[]", "{}", to_line(result).replace('"version": 1', '"version": 2')):
        with pytest.raises(SourceError, match="f: "):
            from_line(line, "f")


def test_names_of_jobs_come_back():
    for job in (*jobs_left(FULL, {}), Job(Cell("pubmed-official", "ppr-400", "jk", 7), 5, "patience", 9)):
        assert job_of(job.name) == job


def test_search_is_equal_for_methods_and_covers_all_rates():
    cell = Cell("debian", "full", "sage", 3)
    found = search(cell, 6)
    assert found == search(replace(cell, method="ppr-50"), 6) != search(replace(cell, graph="pubmed"), 6)
    steps = sorted(int(3 * np.log10(one.learning_rate / 1e-4) + 1e-9) for one in found)
    assert steps == [0, 1, 2, 3, 4, 5]
    assert sorted(one.hidden_dim for one in found) == [64, 64, 128, 128, 256, 256]
    assert all(0 <= one.dropout <= 0.5 and 0 <= one.dropedge <= 0.4 and one.warmup in (0, 0.1) for one in found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("layer", LAYERS)
def test_recipes_differ_between_methods_only_where_they_must(method, layer):
    job, graph = Job(Cell("debian", method, layer, 5), 0, "budget", 2), GRAPHS["debian"]
    settings = search(job.cell, 6)[0]
    recipe, full = (
        recipe_of(replace(job, cell=replace(job.cell, method=name)), graph, settings, 60) for name in (method, "full")
    )
    assert recipe.is_normal == (not job.cell.is_shadow)
    assert recipe.model.model_copy(update={"encoding": full.model.encoding}) == full.model
    assert recipe.training.model_copy(update={"method": "full"}) == full.training
    assert (recipe.seed, recipe.training.num_epochs, recipe.training.evaluate_every) == (2, 60, 3)
    longer = recipe_of(replace(job, ending="patience"), graph, settings, 60).training
    assert (longer.num_epochs, longer.patience, longer.decay_epochs, longer.schedule) == (360, 45, 15, "plateau")


def test_recipes_of_the_paper_are_there():
    for cell in PAPER_CELLS:
        recipe = recipe_of(Job(cell, 0, "recipe", 2), GRAPHS["ogbn-arxiv"], search(cell, 1)[0], 0)
        assert (recipe.graph, recipe.seed, recipe.model.num_layers) == ("ogbn-arxiv", 2, cell.num_layers)


def test_held_out_graphs_are_left_out():
    assert not any(graph.held_out for graph in FULL.graphs.values())
    assert sum(graph.held_out for graph in GRAPHS.values()) == 2


def test_methods_take_turns_and_the_papers_recipes_come_last():
    left = jobs_left(FULL, {})
    assert [job.cell.method for job in left[:5]] == ["default", "full", "ppr-100", "full", "ppr-100"]
    assert [job.ending for job in left].index("recipe") == len(left) - 3 * len(PAPER_CELLS)


def test_every_graph_gets_its_main_trials_before_other_layers_of_cheap_graphs_take_longer():
    left = [(job.cell.graph, job.cell.num_layers) for job in jobs_left(SMALL, {})]
    assert left == [*[("a", 3)] * 4, *[("a", 5)] * 4, *[("b", 3)] * 4, *[("b", 5)] * 4]


def test_the_core_finishes_a_model_on_one_graph_before_the_next():
    results, order = {}, []
    plan = replace(CORE, graphs={"a": StudyGraph("a", 10), "b": StudyGraph("b", 20)}, methods=(DEFAULT, *MAIN))
    while left := jobs_left(plan, results):
        cell = left[0].cell
        order.append((cell.layer, cell.num_layers, cell.graph))
        results[left[0].name] = synthetic(left[0], shadow_wins(cell), plan)
    expected = [(layer, depth, graph) for layer in ("sage", "gcn") for depth in (3, 5) for graph in ("a", "b")]
    assert order == [place for place in expected for _ in range(3 + 5 + 5)]
    assert progress(plan, results, ["a", "b"]).num_expected == len(results)
    text = page(plan, results)
    assert "**Default against normal**: 8 above, 0 equal within the interval, 0 below, of 8" in text
    assert "Goal, at most 0.2 points below the best normal GNN: 8 of 8 pairs." in text
    assert "**Default, 5 layers against 3**: " in text
    assert "| sage-3 | 0.75 | " in text


def test_seeds_follow_the_best_trial_until_the_comparison_is_settled(won):
    results = won
    for graph in SMALL.graphs:
        for method in MAIN:
            cell = Cell(graph, method, "sage", 3)
            trial = chosen_trial(cell, 2, results)
            assert results[f"{graph}/{method}-sage-3/{trial}-budget-0"].valid == max(
                results[f"{graph}/{method}-sage-3/{number}-budget-0"].valid for number in range(2)
            )
            for ending in ("budget", "patience"):
                side = measured(cell, ending, 2, results)
                assert 2 <= len(side.runs) <= 3
                assert {run.job.trial for run in side.runs} == {trial}
    done = progress(SMALL, results, ["a", "b"])
    assert done.num_done >= done.num_expected == 8 * (2 + 1 + 2)


def test_failed_trials_are_not_chosen_and_not_repeated():
    cell, results = Cell("a", "full", "sage", 3), {}
    for trial in range(2):
        result = synthetic(Job(cell, trial, "budget", 0), fault="loss must be finite" if trial == 0 else "")
        results[result.name] = result
    assert chosen_trial(cell, 2, results) == 1
    assert all(job.name not in results for job in jobs_left(SMALL, results))
    results = {name: replace(result, fault="broken") for name, result in results.items()}
    assert chosen_trial(cell, 2, results) is None
    assert not [job for job in jobs_left(SMALL, results) if job.cell == cell]


def test_results_of_another_graph_or_other_settings_are_refused(tmp_path):
    store = ResultStore(tmp_path, None)
    store.add(synthetic(Job(Cell("a", "full", "sage", 3), 0, "budget", 0)))
    with pytest.raises(SourceError, match="graph must be that of the other results, g, got h"):
        store.add(replace(synthetic(Job(Cell("a", "full", "sage", 3), 1, "budget", 0)), graph="h"))
    check_settings(SMALL, store.results)
    with pytest.raises(SourceError, match="settings must be those of the plan"):
        check_settings(replace(SMALL, num_trials=4), store.results)


def test_exported_results_continue_elsewhere_and_give_the_same_page(tmp_path, won):
    store, results = ResultStore(tmp_path / "study", None), won
    for result in results.values():
        store.add(result)
    chosen = {name for name, one in results.items() if chosen_trial(one.job.cell, 2, results) == one.job.trial}
    size = store.export(tmp_path / "kept", chosen)
    assert size == sum(path.stat().st_size for path in (tmp_path / "kept").iterdir())
    again = ResultStore(tmp_path / "other", tmp_path / "kept")
    assert jobs_left(SMALL, again.results) == []
    assert {name for name, one in again.results.items() if one.bits} == chosen < set(results)
    assert page(SMALL, again.results) == page(SMALL, store.results) == page(SMALL, results)


def test_page_says_in_words_what_the_intervals_decide(won):
    text = page(SMALL, won)
    assert "**shaDow against normal, equal CPU seconds**: 4 above, 0 equal within the interval, 0 below, of 4" in text
    assert "shaDow is above where the interval decides on a, b." in text
    assert "## a\n\nEqual CPU seconds (10 for each run):\n" in text
    assert text.count("| sage-3 | ppr-100 | ") == text.count("| sage-5 | ppr-100 | ") == 4
    assert "Not finished" not in text
    opposite = page(SMALL, finished(SMALL, lambda cell: 1.55 - shadow_wins(cell)))
    assert "0 above, 0 equal within the interval, 4 below, of 4" in opposite
    assert "**Not finished**: 0 of at least 40 runs are done." in page(SMALL, {})


def test_comparison_holds_the_numbers_of_its_sides(won):
    sides = [measured(Cell("a", method, "sage", 3), "budget", 2, won) for method in MAIN]
    found = compare(*sides)
    assert found.difference.value == pytest.approx(sides[0].test.mean() - sides[1].test.mean())
    assert found.verdict == "above"
    assert found.test.p < 1e-6


def test_random_split_holds_every_labeled_node_once():
    graph = communities(101)
    graph = replace(graph, y=np.where(np.arange(101) < 100, graph.y, -1))
    splits = random_splits(graph)
    assert {name: len(nodes) for name, nodes in splits.items()} == {"train": 60, "valid": 20, "test": 20}
    assert sorted(np.concatenate(list(splits.values()))) == list(range(100))
