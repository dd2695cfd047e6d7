"""Recipe files: every fault at once in one line each, overrides, and a round trip that loses nothing."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.extract import KINDS, KhopExtractor
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.extractor_table import table_of
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.recipe.keys import TABLES, recipe_keys


@pytest.fixture
def read(tmp_path):
    def read_text(text, *overrides):
        (tmp_path / "recipe.toml").write_text(text)
        return read_recipe(tmp_path / "recipe.toml", overrides)

    return read_text


def faults(read, text, *overrides):
    with pytest.raises(RecipeError) as caught:
        read(text, *overrides)
    assert all("\n" not in fault for fault in caught.value.faults)
    return list(caught.value.faults)


def test_reads_toml(read):
    recipe = read('graph = "g"\n[extractor]\nkind = "khop"\nfanout = 5\n[model]\nlayer = "gat"\n')
    assert recipe.extractor == KhopExtractor(fanout=5)
    assert recipe.model.layer == "gat"


def test_all_faults_are_shown_at_once(read):
    found = faults(
        read,
        'seed = -1\nnum_layers = 3\n[model]\nnum_layer = 3\nactivation = "rely"\ndropout = 1.0\n'
        '[training]\nnum_epochs = 2.5\ncache = "disc"\ndecay = nan\n[loging]\n',
    )
    assert found == [
        "recipe.toml: graph: must be set",
        "recipe.toml: seed: must be at least 0, got -1",
        'recipe.toml: model.activation: must be relu, elu, prelu or none, got "rely"; did you mean relu?',
        "recipe.toml: model.dropout: must be below 1.0, got 1.0",
        "recipe.toml: model.num_layer: unknown key; did you mean num_layers?",
        "recipe.toml: training.num_epochs: must be an integer, got 2.5",
        "recipe.toml: training.decay: must be a finite number, got nan",
        'recipe.toml: training.cache: must be memory, disk or none, got "disc"; did you mean disk?',
        "recipe.toml: num_layers: unknown key; did you mean model.num_layers?",
        "recipe.toml: loging: unknown key; did you mean logging?",
    ]


def test_faults_of_extractors_name_the_kind(read):
    head = 'graph = "g"\n[extractor]\n'
    every = " or ".join(", ".join(KINDS).rsplit(", ", 1))
    owners = ", ".join(kind for kind, owner in KINDS.items() if "topk" in table_of(owner).model_fields)
    assert faults(read, head + 'kind = "pprr"') == [
        f'recipe.toml: extractor: kind must be {every}, got "pprr"; did you mean ppr?'
    ]
    assert faults(read, head + 'kind = "khop"\ntopk = 3') == [
        f"recipe.toml: extractor.topk: unknown key of khop; {' or '.join(owners.rsplit(', ', 1))} would have it"
    ]
    assert faults(read, head + "topkk = 3") == ["recipe.toml: extractor.topkk: unknown key; did you mean topk?"]
    assert faults(read, head + "kind = 3") == [f"recipe.toml: extractor: kind must be {every}, got 3"]
    assert faults(read, 'graph = "g"\nextractor = 3') == ["recipe.toml: extractor: must be a table, got 3"]


def test_faults_of_branches_name_their_number_and_are_told_once(read):
    found = faults(
        read,
        'graph = "g"\n[model]\nnum_layers = 0\n[[branches]]\nmodle = {}\n[[branches]]\nmodel = {skip = "x"}\n'
        "[branches.extractor]\ntopk = 0\n",
    )
    assert found == [
        "recipe.toml: branches.0.modle: unknown key; did you mean model?",
        "recipe.toml: branches.1.extractor.topk: must be at least 1, got 0",
        'recipe.toml: branches.1.model.skip: must be none, max, sum, concat or residual, got "x"',
        "recipe.toml: model.num_layers: must be at least 1, got 0",
    ]


def test_extractor_beside_branches_is_told_with_the_other_faults(read):
    found = faults(read, 'graph = "g"\nseed = -1\n[extractor]\n[[branches]]\n')
    assert found[1] == "recipe.toml: extractor: must be left out with branches, which have an extractor each"


def test_a_value_that_is_too_long_is_cut(read):
    assert len(faults(read, f'graph = "g"\n[model]\nskip = "{"x" * 1000}"')[0]) < 200


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"graph = ", "is not TOML: Invalid value (at end of document)"),
        (b"\xff", "is not TOML"),
        (b"#" * (1 << 20) + b"#", "must have at most 1048576 bytes"),
    ],
)
def test_what_is_no_toml_is_named(tmp_path, content, text):
    (tmp_path / "r.toml").write_bytes(content)
    with pytest.raises(RecipeError, match=r"r\.toml") as caught:
        read_recipe(tmp_path / "r.toml")
    assert text in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RecipeError, match=r"no.toml: cannot be read: No such file"):
        read_recipe(tmp_path / "no.toml")


def test_overrides_are_toml_values_or_bare_words(read):
    recipe = read(
        "[model]\nnum_layers = 3",
        *("graph=debian", "model.num_layers=5", "model.dropout=1e-1", "model.trim=false", 'model.layer="gat"'),
        *("extractor.kind=khop", "training.learning_rate = 0.5"),
    )
    assert (recipe.graph, recipe.model.num_layers, recipe.model.dropout) == ("debian", 5, 0.1)
    assert (recipe.model.trim, recipe.model.layer) == (False, "gat")
    assert (recipe.extractor, recipe.training.learning_rate) == (KhopExtractor(), 0.5)


def test_an_override_reaches_into_branches(read):
    text = 'graph = "g"\n[[branches]]\n[[branches]]\n'
    recipe = read(text, "branches.1.extractor.kind=node", "branches.0.model.layer=gin")
    assert [part.extractor.kind for part in recipe.all_branches] == ["ppr", "node"]
    assert [part.model.layer for part in recipe.all_branches] == ["gin", "sage"]


def test_faults_of_overrides_say_so(read):
    text = 'graph = "g"\n[model]\nlayer = "sage"\n[[branches]]\n'
    found = faults(
        read,
        text,
        *("model.num_layer=3", "a", "=3", "model.skip=[1", "branches.1.model=3", "model.layer.x=3", "branches.0=3"),
        "model.num_heads=four",
    )
    assert found == [
        "--set a: must be a key and a value, such as model.num_layers=5",
        "--set =3: must be a key and a value, such as model.num_layers=5",
        "--set model.skip=[1: the value must be one of TOML, or a bare word",
        "--set branches.1.model=3: the number of a table must be from 0 to 0, got 1",
        "--set model.layer.x=3: layer must be a table to have keys",
        "--set branches.0=3: must name a key of one table of the list, such as branches.0.model.layer",
        '--set: model.num_heads: must be an integer, got "four"',
        "--set: model.num_layer: unknown key; did you mean num_layers?",
    ]


def test_an_override_cannot_smuggle_in_a_second_key(tmp_path):
    (tmp_path / "recipe.toml").write_text('graph = "g"')
    with pytest.raises(RecipeError, match="must be one of TOML, or a bare word"):
        read_recipe(tmp_path / "recipe.toml", ["seed=1\nmodel.num_layers = 3"])


@given(st.data())
def test_writing_and_reading_gives_an_equal_recipe(data):
    table = {"graph": data.draw(st.text(min_size=1, max_size=20).filter(_encodable))}
    for name, record in TABLES.items():
        table[name] = {key: data.draw(_values(field)) for key, field in record.model_fields.items()}
    _fit_to_method(table)
    recipe = Recipe.model_validate(table)
    text = write_recipe(recipe)
    assert Recipe.model_validate(tomllib.loads(text)) == recipe
    left_out = {"init", "warm_epochs"}  # TOML has no none.
    assert set(tomllib.loads(text)["training"]) | left_out == set(TABLES["training"].model_fields)


def _fit_to_method(table):
    """Leave out what a method has no use for."""
    training, method = table["training"], table["training"]["method"]
    if method != "shadow" or table["task"]["kind"] == "link" or table["model"]["encoding_join"] != "add":
        training["warm_start"] = "none"
    methods = {method, training["warm_start"]}
    for name in {"saint", "neighbor"} - methods:
        del table[name]
    if methods != {"shadow", "none"}:
        table["inputs"] |= {"degree": False, "graph_degree": False}
    if method != "shadow":
        table["model"] |= {"encoding": "none", "readout": "center"}
        table["task"] |= {"kind": "node"}
    if table["task"]["kind"] == "node":
        del table["link"]
    else:
        table["task"] = {"kind": "link"}
        table["inputs"] |= {"labels": False}
    if "saint" in methods:
        table["inputs"] |= {"labels": False, "smooth_labels": 0}


def _encodable(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _values(field):
    """Give the default, or another choice where the field has choices or is true or false."""
    choices = [value for value in getattr(field.annotation, "__args__", ()) if isinstance(value, str)]
    if choices:
        return st.sampled_from(choices)
    return st.booleans() if field.annotation is bool else st.just(field.default)


def test_branches_survive_the_round_trip():
    branches = [{"extractor": {"kind": "khop"}}, {"extractor": {"tolerance": 1e-5}, "model": {"layer": "gat"}}]
    recipe = Recipe.model_validate({"graph": "g", "branches": branches, "model": {"num_layers": 7}})
    assert Recipe.model_validate(tomllib.loads(write_recipe(recipe))) == recipe


def test_parts_of_a_combined_score_survive_the_round_trip():
    parts = [{"weight": 2, "extractor": {"kind": "heat", "t": 5.0}}, {"extractor": {"kind": "khop"}}]
    for table in ({"kind": "combined"}, {"kind": "combined", "topk": 30, "parts": parts}):
        recipe = Recipe.model_validate({"graph": "g", "extractor": table})
        assert Recipe.model_validate(tomllib.loads(write_recipe(recipe))) == recipe


def test_faults_of_parts_are_named(read):
    head = 'graph = "g"\n[extractor]\nkind = "combined"\n'
    assert faults(read, head + "parts = [{wait = 1, extractor = {fanout = 3}}]") == [
        "recipe.toml: extractor.parts.0.extractor.fanout: unknown key of ppr; khop would have it",
        "recipe.toml: extractor.parts.0.wait: unknown key; did you mean weight?",
    ]
    assert faults(read, head + 'parts = [{extractor = {kind = "combined"}}]') == [
        "recipe.toml: extractor: parts must not be combined themselves; list their parts here"
    ]


def test_every_key_has_a_text_and_a_default_that_reads_back():
    for key in recipe_keys():
        assert key.text.endswith("."), key
        if key.default:
            tomllib.loads(f"value = {key.default}")
    found = {key.name for key in recipe_keys()}
    assert {"graph", "seed", "model.num_layers", "extractor.kind", "extractor.fanout", "branches.model"} <= found


def test_the_docs_list_every_key_as_it_is():
    text = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()
    found = [line for line in text.splitlines() if line.startswith("| `")]
    for key in recipe_keys():
        values = key.values.replace(" | ", ", ").replace('"', "`")
        default = f"`{key.default}`" if key.default else ""
        assert f"| `{key.name}` | {values} | {default} | {key.text} |" in found
    assert len(found) == len(recipe_keys())


def test_the_examples_of_the_docs_are_recipes(read):
    text = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()
    examples = [
        block for block in re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "graph = " in block
    ]
    assert len([read(example) for example in examples]) == 2
