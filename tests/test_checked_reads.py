"""No room but graph reads the lists of a graph unchecked: only the compiled core does, which checks each value."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "shadow_gnn"
# It hands parts of the arrays to the core, and checks what comes back.
EXEMPT = {"extract/gather.py"}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "graph"]


def unchecked(source: str) -> list[int]:
    """Return the lines that read indptr, indices or a split of a graph other than by its checked methods.

    The arrays may go to the core, and their type may be asked.
    """
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    lines = []
    for node in ast.walk(tree):
        parent = parents.get(node)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(("graph.splits", "graph.pairs")):
            around = parents.get(parent)
            checked = isinstance(around, ast.Call) and ast.unparse(around.func).startswith("check_")
            if not checked and not ast.unparse(parent).startswith("len("):
                lines.append(node.lineno)
        if not isinstance(node, ast.Attribute) or node.attr not in ("indptr", "indices"):
            continue
        if ast.unparse(node.value).split(".")[-1] not in ("graph", "_graph"):
            continue
        to_core = isinstance(parent, ast.Call) and ast.unparse(parent.func).startswith("_core.")
        if not to_core and not (isinstance(parent, ast.Attribute) and parent.attr in ("dtype", "nbytes")):
            lines.append(node.lineno)
    return lines


def test_lists_are_read_by_checked_methods():
    found = {str(path.relative_to(PACKAGE)): unchecked(path.read_text()) for path in FILES}
    assert {name for name, lines in found.items() if lines} - EXEMPT == set(), found
    assert found.keys() >= EXEMPT


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("a = graph.indptr[3]", [1]),
        ("x = 1\nb = np.diff(self.graph.indptr)", [2]),
        ("c = self._graph.indices", [1]),
        ("d = graph.splits['train']", [1]),
        ("e = _core.GraphView(graph.indptr, graph.indices)", []),
        ("f = graph.indices.dtype", []),
        ("g = batch.indptr[3], subgraph.indices", []),
        ("h = graph.lists[0], graph.split('train'), len(graph.splits['train'])", []),
    ],
)
def test_an_unchecked_read_is_found(source, lines):
    assert unchecked(source) == lines
