"""Every value of the paper's recipes against a transcription of its tables and of what the authors' files add."""

import math
import tomllib
from pathlib import Path

import pytest
from tests.recipe.paper_tables import (
    AUTHORS,
    BATCH_SIZES,
    DIFFERENCES,
    EPOCHS,
    INDUCTIVE,
    NUM_HEADS,
    NUM_HOPS,
    SORT_SIZE,
    TABLE_6,
    TABLE_7,
    TABLE_8,
    rows,
)

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.recipe.named import find_recipe, paper_recipe, paper_recipe_names, paper_recipe_path

LINK = {
    "split": "given",
    "negatives": "uniform",
    "num_negatives": 1,
    "epoch_share": 0.1,
    "use_valid_edges": False,
}


def expected(row: list[str], kind: str, *, batch_size: int, threshold: str | None = None) -> tuple[str, dict]:
    """Return the name and the whole table of the recipe for a row: layer, data, layers, ..., DropEdge, budget."""
    layer, data, num_layers, dim, pooling, rate, dropout, dropedge, budget = row
    key = next(words[2:] for words in rows(AUTHORS) if words[:2] == [data, layer])
    activation, encoding, epochs, tolerance, usual_threshold, skip = key
    name = f"{data}-{layer}-{num_layers}-{kind}" + ("" if pooling == "--" else f"-{pooling}")
    model = {
        "layer": layer,
        "num_layers": int(num_layers),
        "hidden_dim": int(dim),
        "activation": activation,
        "dropout": float(dropout),
        "dropedge": float(dropedge),
        "encoding": encoding,
        "head": "normalized",
    }
    model |= {"num_heads": NUM_HEADS} if layer == "gat" else {}
    model |= {"readout": pooling} if pooling != "--" else {}
    model |= {"skip": skip} if pooling != "--" and skip != "none" else {}
    model |= {"sort_size": SORT_SIZE} if pooling == "sort" else {}
    model |= {"standardize": False} if data == "ogbn-papers100M" else {}
    training = {"num_epochs": EPOCHS.get(name, int(epochs)), "batch_size": batch_size, "learning_rate": float(rate)}
    table = {"graph": data, "extractor": extractor(kind, budget, tolerance, threshold or usual_threshold)}
    table |= {"model": model, "training": training}
    table |= {"task": {"inductive": True}} if data in INDUCTIVE else {}
    table |= {"task": {**table.get("task", {}), "label_thresholds": False}} if data == "yelp" else {}
    if data == "ogbl-collab":
        table |= {"task": {"kind": "link"}, "link": LINK}
        model["encoding_join"] = "concat"
        training["monitor"] = "hits50"
    return name, table


def extractor(kind: str, budget: str, tolerance: str, threshold: str) -> dict:
    if kind == "2hop":
        return {"kind": "khop", "num_hops": NUM_HOPS, "fanout": int(budget)}
    table = {"kind": "ppr", "topk": int(budget), "tolerance": float(tolerance)}
    return table | ({"threshold": float(threshold)} if threshold != "--" else {})


def every_row() -> dict[str, dict]:
    """Return the tables that the recipes must have, by name."""
    found = [
        expected([*row[:6], *row[7:]], kind, batch_size=int(row[6]))
        for text, kind in ((TABLE_6, "ppr"), (TABLE_7, "2hop"))
        for row in rows(text)
    ]
    found += [expected(row[:-1], "ppr", batch_size=BATCH_SIZES[row[1]], threshold=row[-1]) for row in rows(TABLE_8)]
    assert len({name for name, _ in found}) == len(found)
    return dict(found)


ROWS = every_row()
EVERY_ROW = pytest.mark.parametrize("name", sorted(ROWS))
EXTRA = sorted(set(paper_recipe_names()) - set(ROWS))
EVERY_EXTRA = pytest.mark.parametrize("name", EXTRA)


def content(name: str) -> dict:
    return tomllib.loads(paper_recipe_path(name).read_text())


def comment(name: str) -> str:
    lines = paper_recipe_path(name).read_text().splitlines()
    return "\n".join(line for line in lines if line.startswith("# "))


def test_there_is_one_recipe_for_each_row_of_the_tables():
    assert [len(rows(table)) for table in (TABLE_6, TABLE_7, TABLE_8)] == [45, 10, 3]
    assert set(paper_recipe_names(extra=False)) == set(ROWS)


@EVERY_ROW
def test_has_the_values_of_its_row_and_of_the_authors_files_and_no_others(name):
    assert content(name) == ROWS[name]


@EVERY_ROW
def test_says_its_row_and_where_the_authors_files_differ(name):
    number = 10 if ROWS[name]["graph"] in BATCH_SIZES else 9 if name.endswith("2hop") else 8
    layer, num_layers = ROWS[name]["model"]["layer"], ROWS[name]["model"]["num_layers"]
    first = comment(name).partition("\n")[0].lower()
    assert first.startswith(f"# table {number} ")
    assert f"shadow-{layer}" in first
    assert f"{num_layers} layers" in first
    assert ROWS[name]["graph"].lower() in first
    assert ("Their file" in comment(name)) == (name in DIFFERENCES)
    assert DIFFERENCES.get(name, "") in comment(name)


@pytest.mark.parametrize("name", sorted(paper_recipe_names()))
def test_heads_are_those_of_the_authors(name):
    recipe = paper_recipe(name)
    assert recipe.model.head == ("unit" if "-sgc-" in name else "normalized")
    assert recipe.task.label_thresholds == (recipe.graph != "yelp")


@pytest.mark.parametrize("name", sorted(paper_recipe_names()))
def test_gcn_recipes_say_the_share_of_edges_that_the_authors_drop(name):
    model = paper_recipe(name).model
    share = 1 - math.exp(-2 * model.dropedge)  # Both directions are drawn, with replacement.
    says = f"in the authors' code {share:.2f}," in comment(name)
    assert says == (model.layer == "gcn" and model.dropedge > 0)


@EVERY_EXTRA
def test_extra_recipes_say_that_they_are_not_published_or_what_the_paper_says(name):
    assert "not published" in comment(name) or "as the paper says" in comment(name)
    assert comment(name).startswith(("# Table ", "# Figure "))


@pytest.mark.parametrize("name", [name for name in EXTRA if name.endswith(("-full", "-saint"))])
def test_normal_recipes_have_no_scopes_and_the_method_of_their_name(name):
    recipe = paper_recipe(name)
    assert recipe.is_normal
    assert recipe.training.method == name.rsplit("-", 1)[1]
    assert recipe.task.inductive == (recipe.graph in INDUCTIVE)


def rows_named(name: str) -> tuple[str, str | None]:
    """Return the row that a recipe's comment says it is like, and the 2-hop row for its scopes if it names one."""
    words = [word.strip(".,;") for word in comment(name).split()]
    named = [word for word in words if word in ROWS]
    hops = [word for word in named if word.endswith("2hop")]
    return next(word for word in named if word not in hops), hops[0] if hops else None


@EVERY_EXTRA
def test_extra_recipes_take_dim_activation_and_regularization_from_the_row_they_name(name):
    if "-sgc-" in name:
        assert content(name)["training"]["learning_rate"] == 0.001
        assert content(name)["model"]["dropout"] == 0.1
        return
    model, row = content(name)["model"], ROWS[rows_named(name)[0]]["model"]
    for key in ("hidden_dim", "activation", "dropout", "dropedge"):
        assert model[key] == row[key], key


@pytest.mark.parametrize("name", [name for name in EXTRA if not name.endswith(("-full", "-saint"))])
def test_extra_shadow_recipes_take_scopes_and_training_from_the_row_they_name(name):
    table = content(name)
    row, hops = (ROWS[other] if other else None for other in rows_named(name))
    if name.endswith("-ensemble"):
        assert [branch["extractor"] for branch in table["branches"]] == [row["extractor"], hops["extractor"]]
    else:
        assert table["extractor"] == (hops or row)["extractor"]
    assert table["training"] == row["training"] | ({"learning_rate": 0.001} if "-sgc-" in name else {})
    assert table["graph"] == row["graph"]
    assert table.get("task") == row.get("task")


def test_extra_recipes_are_those_of_the_papers_other_experiments():
    three, five = ("flickr", "reddit", "ogbn-arxiv"), ("flickr", "reddit", "yelp", "ogbn-arxiv", "ogbn-products")
    normal = {
        f"{d}-{k}-{n}-{m}" for d in five for k in ("gcn", "sage", "gat") for n in (3, 5) for m in ("full", "saint")
    }
    sgc = {f"{data}-sgc-40-{kind}" for data in three for kind in ("ppr", "full")}
    other = {f"{d}-{k}-{n}-{e}" for d in three for k in ("jk", "gin") for n in (3, 5) for e in ("ppr", "full")}
    pooling = {f"{data}-sage-5-ppr-{pool}" for data in ("flickr", "ogbn-arxiv") for pool in ("mean", "sort")}
    depth = {f"{d}-gcn-{what}" for d in ("flickr", "ogbn-products") for what in ("5-2hop", "5-ensemble", "7-ppr")}
    assert set(EXTRA) == normal | sgc | other | pooling | depth


def test_jk_joins_all_layers_and_gin_and_sgc_are_layers_of_their_own():
    assert paper_recipe("flickr-jk-3-ppr").model.skip == "concat"
    assert paper_recipe("flickr-gin-3-ppr").model.layer == "gin"
    assert paper_recipe("reddit-gin-5-full").training.method == "full"
    assert paper_recipe("flickr-sgc-40-ppr").model.layer == "sgc"
    assert paper_recipe("ogbn-products-gcn-7-ppr").model.num_layers == 7


def test_a_recipe_is_read_by_name_with_changes():
    recipe = paper_recipe("flickr-sage-3-ppr", ["model.num_layers=7"])
    assert isinstance(recipe, Recipe)
    assert isinstance(recipe.extractor, PprExtractor)
    assert (recipe.model.num_layers, recipe.extractor.topk) == (7, 200)
    assert isinstance(paper_recipe("reddit-sage-3-2hop").extractor, KhopExtractor)


def test_an_unknown_name_is_one_line_with_the_nearest():
    with pytest.raises(RecipeError, match=r"^paper/flickr-sage-3-pr: .*did you mean paper/flickr-sage-3-ppr\?$"):
        paper_recipe("flickr-sage-3-pr")


def test_a_file_that_is_there_comes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = Path("paper/flickr-sage-3-ppr")
    assert find_recipe(given) == paper_recipe_path("flickr-sage-3-ppr")
    assert find_recipe(Path("paper/flickr-jk-3-ppr.toml")) == paper_recipe_path("flickr-jk-3-ppr")
    assert find_recipe(Path("recipe.toml")) == Path("recipe.toml")
    given.parent.mkdir()
    given.write_text('graph = "debian"\n')
    assert find_recipe(given) == given


@pytest.mark.parametrize("name", ["debian", "debian.toml", "recipes/debian.toml"])
def test_ready_recipes_have_short_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = find_recipe(Path(name))
    assert (found.name, read_recipe(found).graph) == ("debian.toml", "debian")
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text('graph = "mine"\n')
    assert find_recipe(Path(name)) == Path(name)


@pytest.mark.parametrize("name", ["debbian", "other/debian.toml", "../debian"])
def test_other_names_stay_as_they_are(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_recipe(Path(name)) == Path(name)
