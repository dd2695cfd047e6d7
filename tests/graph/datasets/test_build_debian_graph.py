"""The script that builds the built-in graph, on package lists small enough to read."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[3] / "tools" / "build_debian_graph.py"
PACKAGES = """\
Package: alpha
Source: greek (1.2)
Section: contrib/text
Pre-Depends: beta (>= 1.0)
Depends: gamma:any | delta [amd64], nowhere
Recommends: alpha, few
Description: Alpha edits text
Description-md5: a1
Tag: role::program,
 use::editing

Package: beta
Source: greek
Section: libs
Provides: few (= 2), many
Depends: alpha
Description: shared library

Package: delta
Section: libs
Provides: many
Suggests: many
Description: library of delta

Package: epsilon
Section: doc
Provides: many
Description: documentation

Package: gamma
Section: doc
Provides: many
Description: documentation for
 greek
"""
TRANSLATION = """\
Package: alpha
Description-md5: a1
Description-en: Alpha edits text
 A long text about greek and greekish letters.
"""


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_debian_graph", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Its dataclasses look themselves up there.
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "Packages").write_text(PACKAGES)
    (tmp_path / "Translation-en").write_text(TRANSLATION)
    return tmp_path


def test_relations_lose_versions_architectures_and_alternatives(script):
    relation = "a (>= 1), b:any | c [amd64] (<< 2), d <!nocheck>,\n e"
    assert list(script.names(relation)) == ["a", "b", "c", "d", "e"]


def test_packages_are_read_by_name_with_source_and_section(script, files):
    packages = script.read_packages(files / "Packages", None)
    assert [package.name for package in packages] == ["alpha", "beta", "delta", "epsilon", "gamma"]
    assert [package.source for package in packages] == ["greek", "greek", "delta", "epsilon", "gamma"]
    assert [package.section for package in packages] == ["text", "libs", "libs", "doc", "doc"]


def test_edges_are_undirected_and_reach_few_providers_only(script, files):
    packages = script.read_packages(files / "Packages", None)
    # alpha-beta (twice named, and by "few"), alpha-delta, alpha-gamma; "many" has four providers, "nowhere" none.
    assert script.undirected_edges(packages).tolist() == [[0, 1], [0, 2], [0, 4]]


def test_text_is_the_longest_there_is_without_own_names(script, files):
    short = script.read_packages(files / "Packages", None)[0].text
    long = script.read_packages(files / "Packages", files / "Translation-en")[0].text
    assert short.split() == ["edits", "text"]
    assert long.split() == ["edits", "text", "a", "long", "text", "about", "and", "greekish", "letters."]


def test_first_of_two_paragraphs_counts(script, tmp_path):
    path = tmp_path / "Packages"
    path.write_text("Package: a\nSection: net\nVersion: 2\n\nPackage: a\nSection: mail\nVersion: 1\n")
    assert [package.section for package in script.read_packages(path, None)] == ["net"]


def test_word_weights_are_tf_idf_of_length_one(script, monkeypatch):
    monkeypatch.setattr(script, "MIN_PACKAGES_PER_WORD", 1)
    found = script.word_weights(["red red blue", "blue green", "", "c++ 3d"]).toarray()
    # Columns: blue, c++, d, green, red; a number alone is no word.
    first = np.array([np.log(2), 0, 0, 0, (1 + np.log(2)) * np.log(4)])
    np.testing.assert_allclose(found[0], first / np.linalg.norm(first))
    assert found.shape == (4, 5)
    assert (found[2] == 0).all()
    np.testing.assert_allclose(np.linalg.norm(found[[0, 1, 3]], axis=1), 1)


def test_reduction_keeps_inner_products(script):
    rng = np.random.default_rng(0)
    rank_two = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 10))
    from scipy.sparse import csr_array

    found = script.reduced(csr_array(rank_two), 2)
    np.testing.assert_allclose(found @ found.T, rank_two @ rank_two.T, atol=1e-8)
    assert (found[:, 0] ** 2).sum() > (found[:, 1] ** 2).sum()


def test_steps_are_within_half_a_step(script):
    values = np.array([[1.0, -0.02], [-2.0, 0.01], [0.3, 0.0]])
    steps, scale = script.steps(values)
    assert np.abs(steps.astype(int)).max(axis=0).tolist() == [127, 127]
    assert (np.abs(steps * scale - values) <= 0.5001 * scale).all()


def test_split_is_a_matter_of_the_source_alone(script):
    splits = [script.split_of(f"source-{number}") for number in range(2000)]
    np.testing.assert_allclose(np.bincount(splits) / 2000, [0.6, 0.2, 0.2], atol=0.03)
    # Another version of Python or of the lists must not move a source.
    assert [script.split_of(name) for name in ("glibc", "linux", "0ad")] == [1, 1, 0]


def test_script_writes_the_file_and_its_provenance(script, files, monkeypatch):
    monkeypatch.setattr(script, "MIN_PACKAGES_PER_WORD", 1)
    monkeypatch.setattr(
        sys, "argv", ["build", "--packages", str(files / "Packages"), "--num-columns", "2", "--out", str(files)]
    )
    script.main()
    record = json.loads((files / "debian.json").read_text())
    assert (record["num_nodes"], record["num_edges"], record["num_classes"], record["num_sources"]) == (5, 3, 3, 4)
    with np.load(files / "debian.npz", allow_pickle=False) as arrays:
        assert arrays["indptr"].tolist() == [0, 3, 3, 3, 3, 3]
        assert arrays["x"].shape == (2, 5)
        assert bytes(arrays["class_name"]).decode().split("\n") == ["doc", "libs", "text"]


def test_missing_lists_are_named(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, "--lists", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has no Packages list" in done.stderr
