"""Scope files: what is written is read back, and a file that is not whole is one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from shadow_gnn.base.errors import SourceError
from shadow_gnn.extract.scope_file import Origin, ScopeNodes, read_scope_file, sorted_nodes, write_scope_file

ORIGIN = Origin(10, "f" * 32, "by hand")


def nodes_of(scopes: dict[int, dict[int, float]]) -> ScopeNodes:
    """Make scopes of {target: {node: score}}."""
    ptr = np.cumsum([0, *(len(scope) for scope in scopes.values())])
    node_id = np.array([node for scope in scopes.values() for node in scope], np.int64)
    score = np.array([value for scope in scopes.values() for value in scope.values()], np.float32)
    return sorted_nodes(np.array(list(scopes), np.int64), ptr, node_id, score)


SCOPES = {7: {1: 0.5, 2: 0.75, 0: 0.5}, 3: {}, 4: {4: 1.0, 9: 0.25}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_scope_file(tmp_path / "scopes.safetensors", [nodes_of(SCOPES)], ORIGIN)
    return tmp_path / "scopes.safetensors"


def test_targets_ascend_and_nodes_fall_in_score(path: Path) -> None:
    found = read_scope_file(path)
    assert found.nodes.targets.tolist() == [3, 4, 7]
    assert found.nodes.ptr.tolist() == [0, 0, 2, 5]
    assert found.nodes.node_id.tolist() == [4, 9, 2, 0, 1]
    assert found.nodes.score.tolist() == [1.0, 0.25, 0.75, 0.5, 0.5]
    assert found.origin == ORIGIN


def test_rows_are_found_and_taken_in_any_order(path: Path) -> None:
    found = read_scope_file(path)
    assert found.find(np.array([[7, 3], [5, 4], [9, 0]])).tolist() == [[2, 0], [-1, 1], [-1, -1]]
    taken = found.take(np.array([2, 0, 1, 2]))
    assert taken.ptr.tolist() == [0, 3, 3, 5, 8]
    assert taken.node_id.tolist() == [2, 0, 1, 4, 9, 2, 0, 1]
    assert taken.node_id.dtype == np.int64
    assert taken.score.tolist() == [0.75, 0.5, 0.5, 1.0, 0.25, 0.75, 0.5, 0.5]


def test_parts_make_the_same_file_as_all_at_once(path: Path, tmp_path: Path) -> None:
    parts = [nodes_of({target: SCOPES[target]}) for target in (3, 4, 7)]
    write_scope_file(tmp_path / "parts", parts, ORIGIN)
    assert (tmp_path / "parts").read_bytes() == path.read_bytes()


def test_the_layout_is_that_of_safetensors(path: Path) -> None:
    arrays = load_file(path)
    assert arrays["node_id"].tolist() == [4, 9, 2, 0, 1]
    assert {name: str(array.dtype) for name, array in arrays.items()} == {
        "targets": "int64",
        "ptr": "int64",
        "node_id": "int32",
        "score": "float32",
    }


def test_a_file_without_targets_is_one(tmp_path: Path) -> None:
    write_scope_file(tmp_path / "none", [], ORIGIN)
    found = read_scope_file(tmp_path / "none")
    assert len(found.nodes) == 0
    assert found.find(np.array([3])).tolist() == [-1]


def test_more_nodes_than_an_int32_counts_are_stored_wide(tmp_path: Path) -> None:
    write_scope_file(tmp_path / "wide", [nodes_of({1: {2**32: 1.0}})], Origin(2**40, "f" * 32, ""))
    assert read_scope_file(tmp_path / "wide").nodes.node_id.tolist() == [2**32]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": [4, 3]}, "targets must ascend from 0 to 9 over all parts"),
        ({"targets": [3, 10]}, "targets must ascend from 0 to 9 over all parts"),
        ({"ptr": [0, 3, 2]}, "ptr must ascend from 0 to the number of nodes 2"),
        ({"node_id": [1, 10]}, "node_id must be node ids from 0 to 9, got others"),
        ({"node_id": [1, 1], "score": [0.5, 0.25]}, "node_id must not repeat within a scope, got 1 twice"),
        ({"score": [0.5, 0.0]}, "score must be finite and above 0"),
        ({"score": [np.nan, 0.5]}, "score must be finite and above 0"),
        ({"score": [0.5, 0.75]}, "nodes of a scope must fall in score"),
        ({"score": [0.5]}, "score must be 2 floats, one for each node, got 1"),
    ],
)
def test_what_no_reader_expects_is_not_written(tmp_path: Path, changes: dict[str, list[float]], message: str) -> None:
    given = {"targets": [3, 4], "ptr": [0, 0, 2], "node_id": [1, 2], "score": [0.75, 0.5], **changes}
    arrays = {name: np.array(given[name], np.float32 if name == "score" else np.int64) for name in given}
    with pytest.raises(ValueError, match=f"write_scope_file: {message}"):
        write_scope_file(tmp_path / "bad", [ScopeNodes(**arrays)], ORIGIN)
    assert list(tmp_path.iterdir()) == []


def test_every_cut_and_every_changed_byte_is_one_line(path: Path, tmp_path: Path) -> None:
    whole, bad = path.read_bytes(), tmp_path / "bad"
    length = 8 + int.from_bytes(whole[:8], "little")
    damaged = [whole[:end] for end in (0, 7, 8, 30, length, len(whole) - 1)] + [whole + b"\0"]
    damaged += [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(8, len(whole))]
    for data in damaged:
        bad.write_bytes(data)
        try:
            found = read_scope_file(bad)
        except SourceError as error:
            assert str(error).startswith(f"{bad}: ")
            assert "\n" not in str(error)
        else:  # Blanks and names of the header that nothing depends on.
            assert found.nodes.node_id.tolist() == [4, 9, 2, 0, 1]
            assert found.origin == ORIGIN


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header["__metadata__"].update(version="2"), "version must be 1, got '2'; it is from another"),
        (lambda header: header["__metadata__"].update(format="pt"), "is not a scope file"),
        (lambda header: header.pop("__metadata__"), "is not a scope file"),
        (lambda header: header.pop("ptr"), "was edited or damaged: it must hold targets, ptr, node_id, score"),
        (lambda header: header["score"].update(dtype="F64"), "score must be a list of F32"),
        (lambda header: header["score"].update(shape=[2**60]), "score must be a list of F32"),
        (lambda header: header["node_id"].update(shape=[5, 1]), "was edited or damaged"),
        (lambda header: header["__metadata__"].update(num_nodes="9"), "its checksum does not fit"),
        (lambda header: header["__metadata__"].update(made_by="x" * 60_000), "was edited or damaged: Origin: made_by"),
    ],
)
def test_lying_headers_are_named(path: Path, change: object, message: str) -> None:
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    change(header)  # type: ignore[operator]
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + whole[8 + length :])
    with pytest.raises(SourceError, match=message):
        read_scope_file(path)


def test_what_is_no_file_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(SourceError, match=f"{path}: cannot be read: "):
            read_scope_file(path)


def test_a_file_that_is_cut_while_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "large"
    count = 100_000
    scopes = ScopeNodes(
        np.array([3]), np.array([0, count]), np.arange(count), np.linspace(1, 0.5, count).astype(np.float32)
    )
    write_scope_file(
        path, [sorted_nodes(scopes.targets, scopes.ptr, scopes.node_id, scopes.score)], Origin(count, "", "")
    )
    found = read_scope_file(path)
    os.truncate(path, 4096)
    with pytest.raises(SourceError, match=f"{path}: "):
        found.take(np.array([0]))
