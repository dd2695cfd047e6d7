"""The script that builds the built-in graph, on package lists small enough to read."""

import json
import subprocess
import sys
from pathlib import Path

import build_debian_graph as script
import numpy as np
import pytest

from shadow_gnn.graph.datasets.packed import unpacked

SCRIPT = Path(__file__).parents[2] / "tools" / "build_debian_graph.py"
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


@pytest.fixture
def files(tmp_path):
    (tmp_path / "Packages").write_text(PACKAGES)
    (tmp_path / "Translation-en").write_text(TRANSLATION)
    return tmp_path


def test_relations_lose_versions_architectures_and_alternatives():
    relation = "a (>= 1), b:any | c [amd64] (<< 2), d <!nocheck>,\n e"
    assert list(script.names(relation)) == ["a", "b", "c", "d", "e"]


def test_packages_are_read_by_name_with_source_and_section(files):
    packages = script.read_packages(files / "Packages", None)
    assert [package.name for package in packages] == ["alpha", "beta", "delta", "epsilon", "gamma"]
    assert [package.source for package in packages] == ["greek", "greek", "delta", "epsilon", "gamma"]
    assert [package.section for package in packages] == ["text", "libs", "libs", "doc", "doc"]


def test_edges_are_undirected_and_reach_few_providers_only(files):
    packages = script.read_packages(files / "Packages", None)
    # alpha-beta (twice named, and by "few"), alpha-delta, alpha-gamma; "many" has four providers, "nowhere" none.
    assert script.undirected_edges(packages).tolist() == [[0, 1], [0, 2], [0, 4]]


def test_text_is_the_longest_there_is_without_own_names(files):
    short = script.read_packages(files / "Packages", None)[0].text
    long = script.read_packages(files / "Packages", files / "Translation-en")[0].text
    assert short.split() == ["edits", "text"]
    assert long.split() == ["edits", "text", "a", "long", "text", "about", "and", "greekish", "letters."]


def test_first_of_two_paragraphs_counts(tmp_path):
    path = tmp_path / "Packages"
    path.write_text("Package: a\nSection: net\nVersion: 2\n\nPackage: a\nSection: mail\nVersion: 1\n")
    assert [package.section for package in script.read_packages(path, None)] == ["net"]


def test_steps_are_within_half_a_step():
    values = np.array([[1.0, -0.02], [-2.0, 0.01], [0.3, 0.0]])
    steps, scale = script.steps(values)
    assert np.abs(steps.astype(int)).max(axis=0).tolist() == [127, 127]
    assert (np.abs(steps * scale - values) <= 0.5001 * scale).all()


def test_split_is_a_matter_of_the_source_alone():
    splits = [script.split_of(f"source-{number}") for number in range(2000)]
    np.testing.assert_allclose(np.bincount(splits) / 2000, [0.6, 0.2, 0.2], atol=0.03)
    # Another version of Python or of the lists must not move a source.
    assert [script.split_of(name) for name in ("glibc", "linux", "0ad")] == [1, 1, 0]


def test_packages_of_one_source_share_their_split(files, monkeypatch):
    monkeypatch.setattr(script, "MIN_PACKAGES_PER_WORD", 1)
    packages = script.read_packages(files / "Packages", None)
    split = script.graph_arrays(packages, 2)["split"].tolist()
    assert split == [script.split_of(name) for name in ("greek", "greek", "delta", "epsilon", "gamma")]


def test_script_writes_the_file_and_its_provenance(files, monkeypatch):
    monkeypatch.setattr(script, "MIN_PACKAGES_PER_WORD", 1)
    monkeypatch.setattr(
        sys, "argv", ["build", "--packages", str(files / "Packages"), "--num-columns", "2", "--out", str(files)]
    )
    script.main()
    record = json.loads((files / "debian.json").read_text())
    assert (record["num_nodes"], record["num_edges"], record["num_classes"], record["num_sources"]) == (5, 3, 3, 4)
    with np.load(files / "debian.npz", allow_pickle=False) as stored:
        arrays = unpacked(stored)
    # Each edge lies at its end of lower degree: alpha has three.
    assert arrays["indptr"].tolist() == [0, 0, 1, 2, 2, 3]
    assert arrays["indices"].tolist() == [0, 0, 0]
    assert arrays["x"].shape == (5, 2)
    assert bytes(arrays["class_name"]).decode().split("\n") == ["doc", "libs", "text"]


def test_missing_lists_are_named(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, "--lists", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has no Packages list" in done.stderr
