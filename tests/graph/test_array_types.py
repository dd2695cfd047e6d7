"""Types and shapes of the arrays of a folder: what cannot be used is refused when it is opened or saved."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.errors import FolderError
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.graph.verify import verify_graph

GRAPH = communities()
E = GRAPH.num_edges
CASES = {
    "edge_id of halves": ("edge_id", np.zeros(E, np.float16)),
    "edge_id of two dimensions": ("edge_id", np.zeros((E, 1), np.int64)),
    "edge_attr of integers": ("edge_attr", np.zeros((E, 2), np.int64)),
    "edge_weight of two dimensions": ("edge_weight", np.ones((E, 1), np.float32)),
    "text of integers": ("class_name_text", np.zeros(9, np.int32)),
    "float offsets of names": ("node_name_ptr", np.zeros(121, np.float32)),
    "offsets of two dimensions": ("node_name_ptr", np.zeros((121, 1), np.int64)),
    "a split of int32": ("split/train", np.arange(9, dtype=np.int32)),
    "values of two dimensions": ("x_data", np.zeros((3, 1), np.float32)),
}


@pytest.mark.parametrize("case", CASES)
def test_an_array_of_the_wrong_type_is_one_line(tmp_path, case):
    name, array = CASES[case]
    save_graph(GRAPH, tmp_path / "g")
    np.save(tmp_path / "g" / f"{name}.npy", array)
    content = json.loads((tmp_path / "g" / "graph.json").read_text())
    del content["checksum"]
    num_bytes = (tmp_path / "g" / f"{name}.npy").stat().st_size
    entry = {"dtype": array.dtype.name, "shape": list(array.shape), "num_bytes": num_bytes, "blake2b": "0" * 32}
    content["files"][f"{name}.npy"] = entry
    (tmp_path / "g" / "graph.json").write_bytes(dump_checked(content))
    for look in (open_graph, verify_graph):
        with pytest.raises(FolderError, match=rf"graph.json: {name}.npy must be .*, got {array.dtype.name}") as caught:
            look(tmp_path / "g")
        assert "\n" not in str(caught.value)


def test_an_array_that_could_not_be_read_again_is_not_saved(tmp_path):
    graph = replace(GRAPH, edge_attr=np.zeros((E, 2), np.float16))
    with pytest.raises(ValueError, match=r"save_graph: edge_attr.npy must be float32 of 2 dimensions"):
        save_graph(graph, tmp_path / "g")
    assert list(tmp_path.iterdir()) == []
