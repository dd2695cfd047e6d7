"""Who may import whom, what no room may do, and what importing the package must not load or change."""

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import shadow_gnn

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "shadow_gnn"

# Each room (a module or a folder of src/shadow_gnn) and the rooms that it may import, at the top of a file, inside a
# function or for type checking. A new room gets a line here.
MAY_IMPORT: dict[str, set[str]] = {
    "_core": set(),
    "allocator": set(),
    "errors": set(),
    "files": {"errors"},
    "graph": set(),
    "manifest": {"errors", "files"},
    "store": {"errors", "files", "graph", "manifest"},
    "verify": {"errors", "files", "graph", "manifest", "store"},
    "work": {"errors", "files", "space"},
    "ingest": {"errors", "files", "graph", "space", "work"},
    "datasets": {"errors", "files", "graph", "ingest", "store", "work"},
    "generate": {"_core", "files", "ingest", "store", "work"},
    "extract": {"_core", "errors", "files", "graph"},
    "diffuse": {"errors", "extract", "files", "graph"},
    "space": {"errors"},
    "prefetch": set(),
    "batch": {"extract", "graph"},
    "loader": {"batch", "extract", "graph", "memory", "prefetch"},
    "pack": {"batch", "errors", "files"},
    "packed": {"batch", "extract", "graph", "loader", "pack", "prefetch"},
    "pyg": {"batch", "extract", "graph", "ingest"},
    "nn": {"_core", "batch"},
    "smoothing": {"graph", "nn"},
    "memory": set(),
    "bf16": set(),
    "task": {"extract", "graph"},
    "link": {"batch", "extract", "files", "graph", "loader", "memory", "nn"},
    "views": {"extract", "graph"},
    "aligned": {"batch", "loader"},
    "normal": {
        "_core",
        "batch",
        "bf16",
        "errors",
        "extract",
        "files",
        "graph",
        "loader",
        "nn",
        "prefetch",
        "space",
        "task",
        "views",
    },
    "recipe": {"errors", "files"},
    "inputs": {
        "batch",
        "errors",
        "extract",
        "graph",
        "link",
        "loader",
        "recipe",
        "smoothing",
        "space",
        "task",
        "views",
    },
    "methods": {"batch", "graph", "inputs", "loader", "nn", "normal", "recipe"},
    "build": {"errors", "extract", "graph", "loader", "nn", "recipe", "store", "views"},
    "setup": {
        "build",
        "datasets",
        "errors",
        "extract",
        "graph",
        "inputs",
        "link",
        "loader",
        "methods",
        "nn",
        "normal",
        "packed",
        "recipe",
        "store",
        "task",
        "views",
    },
    "footprint": {"batch", "build", "extract", "graph", "memory", "methods", "normal", "recipe", "setup", "task"},
    "better": set(),
    "metrics": {"link", "ranks", "task"},
    "baselines": {"extract", "files", "graph", "loader", "memory", "metrics", "nn", "smoothing", "task"},
    "schedule": {"better", "recipe"},
    "ranks": set(),
    "heartbeat": set(),
    "checkpoint": {"errors", "files", "ranks"},
    "checkpoints": {"checkpoint", "errors"},
    "model_file": {"build", "checkpoint", "errors", "files", "graph", "nn", "recipe", "task", "views"},
    "train": {
        "aligned",
        "batch",
        "bf16",
        "better",
        "checkpoint",
        "errors",
        "loader",
        "metrics",
        "ranks",
        "recipe",
        "schedule",
        "task",
    },
    "predict": {"aligned", "batch", "bf16", "extract", "loader", "metrics", "nn", "normal", "ranks", "task"},
    "inference": {"build", "extract", "graph", "inputs", "link", "loader", "model_file", "predict", "setup", "task"},
    "locality": {"extract", "files", "graph", "space", "work"},
    "bulk": {
        "errors",
        "extract",
        "files",
        "graph",
        "inference",
        "inputs",
        "locality",
        "manifest",
        "model_file",
        "predict",
        "ranks",
        "store",
        "work",
    },
    "predictions": {
        "bulk",
        "errors",
        "files",
        "graph",
        "inference",
        "inputs",
        "model_file",
        "predict",
        "ranks",
        "setup",
        "task",
    },
    "pair_predictions": {
        "extract",
        "files",
        "graph",
        "inference",
        "link",
        "model_file",
        "predict",
        "predictions",
        "ranks",
    },
    "after": {
        "better",
        "errors",
        "extract",
        "files",
        "graph",
        "inference",
        "metrics",
        "model_file",
        "predict",
        "predictions",
        "task",
    },
    "run": {
        "better",
        "checkpoint",
        "checkpoints",
        "datasets",
        "errors",
        "extract",
        "files",
        "footprint",
        "graph",
        "loader",
        "manifest",
        "memory",
        "metrics",
        "model_file",
        "predict",
        "ranks",
        "recipe",
        "setup",
        "store",
        "task",
        "train",
    },
    "explain": {"batch", "loader", "nn", "normal", "task"},
    "learn": {
        "batch",
        "build",
        "errors",
        "explain",
        "extract",
        "files",
        "footprint",
        "graph",
        "inference",
        "inputs",
        "loader",
        "memory",
        "model_file",
        "recipe",
        "run",
        "setup",
        "task",
        "views",
    },
    "tune": {"allocator", "better", "bf16", "errors", "files", "graph", "recipe", "run", "setup", "train"},
    "analysis": {"errors", "extract", "files", "graph", "memory", "normal"},
    "compare": {"analysis", "baselines", "build", "errors", "extract", "files", "graph", "recipe", "task"},
    "recipe_cost": {"analysis", "build", "files", "graph", "normal", "recipe", "task"},
    "reproduce": {
        "analysis",
        "baselines",
        "batch",
        "build",
        "datasets",
        "errors",
        "extract",
        "files",
        "graph",
        "inference",
        "loader",
        "metrics",
        "model_file",
        "nn",
        "normal",
        "predict",
        "recipe",
        "recipe_cost",
        "run",
        "setup",
        "smoothing",
        "space",
        "store",
        "task",
        "train",
        "views",
    },
    "theory": {"batch", "extract", "files", "graph", "ingest", "nn", "predict", "recipe", "setup", "task", "train"},
    "cli": {
        "after",
        "allocator",
        "analysis",
        "baselines",
        "bf16",
        "compare",
        "datasets",
        "diffuse",
        "errors",
        "extract",
        "files",
        "footprint",
        "generate",
        "graph",
        "heartbeat",
        "inference",
        "ingest",
        "learn",
        "link",
        "memory",
        "metrics",
        "model_file",
        "pair_predictions",
        "predict",
        "predictions",
        "ranks",
        "recipe",
        "recipe_cost",
        "reproduce",
        "run",
        "setup",
        "store",
        "task",
        "theory",
        "train",
        "tune",
        "verify",
        "work",
    },
    "__main__": {"cli"},
    "__init__": {
        "batch",
        "build",
        "extract",
        "graph",
        "loader",
        "model_file",
        "nn",
        "recipe",
        "run",
        "store",
        "task",
        "train",
    },
}

# Imports against the order, each inside one function and for one reason.
EXCEPTIONS = {
    ("graph", "store"): "__reduce__ names open_graph, so that an opened graph pickles as its path",
}

CORE_USERS = {"extract", "generate", "nn", "normal"}
HEAVY = {"torch", "torch_geometric", "numpy", "scipy", "pyarrow", "pandas", "matplotlib", "networkx"}
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}

FILES = sorted(PACKAGE.rglob("*.py"))
EVERY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms_imported(path: Path) -> Iterator[tuple[str, bool]]:
    """Give (room, whether at the top level) for every import of the package's own modules in a file."""
    tree = ast.parse(path.read_text())
    lazy = {id(node) for outer in ast.walk(tree) if isinstance(outer, ast.FunctionDef) for node in ast.walk(outer)}
    for node in ast.walk(tree):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: line {node.lineno}: imports must be absolute"
            modules = [str(node.module)]
            if node.module == "shadow_gnn":
                modules = [f"shadow_gnn.{alias.name}" for alias in node.names]
        for module in modules:
            if module.split(".")[0] == "shadow_gnn":
                parts = module.split(".")
                yield (parts[1] if len(parts) > 1 else "__init__"), id(node) not in lazy


def in_subprocess(code: str) -> dict[str, object]:
    """Run code in a fresh Python; its last line of output is JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@EVERY_FILE
def test_imports_only_what_the_table_allows(path):
    room = room_of(path)
    for other, at_top in rooms_imported(path):
        if other == room or other in MAY_IMPORT[room]:
            continue
        assert (room, other) in EXCEPTIONS, f"{room} must not import {other}"
        assert not at_top, f"{room} may import {other} only inside a function"


def test_table_knows_every_room_and_no_other():
    rooms = {room_of(path) for path in FILES} | {"_core"}
    assert rooms == set(MAY_IMPORT)
    assert {other for allowed in MAY_IMPORT.values() for other in allowed} <= rooms


def test_dependencies_point_one_way():
    TopologicalSorter(MAY_IMPORT).prepare()  # Raises CycleError if they do not.


def test_exceptions_are_still_needed():
    used = {(room_of(path), other) for path in FILES for other, _ in rooms_imported(path)}
    assert set(EXCEPTIONS) <= used


def test_only_four_rooms_use_the_compiled_core():
    users = {room_of(path) for path in FILES for other, _ in rooms_imported(path) if other == "_core"}
    assert users == CORE_USERS


def test_only_commands_and_what_they_count_use_analysis():
    users = {room_of(path) for path in FILES for other, _ in rooms_imported(path) if other == "analysis"}
    assert users - {"analysis"} == {"cli", "compare", "recipe_cost", "reproduce"}


def test_the_core_knows_neither_torch_nor_python_but_for_its_bindings():
    for path in sorted((ROOT / "core").glob("*.h")):
        if path.name == "binding.h":
            continue
        text = path.read_text()
        assert not any(word in text for word in ("nanobind", "Python.h", "torch/")), path.name


@EVERY_FILE
def test_nothing_runs_code_from_data(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & UNSAFE_MODULES
        elif isinstance(node, ast.ImportFrom):
            assert str(node.module).split(".")[0] not in UNSAFE_MODULES
        elif isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in ("eval", "exec", "torch.load", "np.load", "numpy.load")
            assert all(word.arg != "allow_pickle" for word in node.keywords)


@EVERY_FILE
def test_only_the_command_line_prints_or_exits(path):
    if room_of(path) == "cli":
        return
    calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
    assert not calls & {"print", "sys.exit", "exit", "os._exit", "typer.echo"}


@EVERY_FILE
def test_every_module_says_what_it_is_for_and_what_not(path):
    text = ast.get_docstring(ast.parse(path.read_text()))
    assert text is not None
    assert "Not for:" in text


def test_importing_the_package_loads_nothing_heavy_and_changes_nothing():
    found = in_subprocess(
        "import json, os, signal, sys, threading\n"
        "def state():\n"
        "    handlers = [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())]\n"
        "    return dict(os.environ), list(sys.argv), handlers, os.getcwd(), threading.active_count()\n"
        "before = state()\n"
        "import shadow_gnn\n"
        "tasks = len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1\n"
        "print(json.dumps({'same': before == state(), 'tasks': tasks, 'modules': list(sys.modules)}))\n"
    )
    assert not HEAVY & set(found["modules"])
    assert "shadow_gnn._core" not in found["modules"]
    assert found["same"]
    assert found["tasks"] == 1


@pytest.mark.parametrize("arguments", [["--help"], ["data", "import", "--help"], ["extract", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    found = in_subprocess(
        "import json, sys, threading\n"
        f"sys.argv = ['shadow', *{arguments!r}]\n"
        "from shadow_gnn.cli.main import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    code = end.code\n"
        "print(json.dumps({'code': code, 'threads': threading.active_count(), 'modules': list(sys.modules)}))\n"
    )
    assert found["code"] == 0
    assert not HEAVY & set(found["modules"])
    assert found["threads"] == 1


def test_graph_folders_open_without_torch():
    found = in_subprocess(
        "import json, sys\n"
        "from shadow_gnn import extract, open_graph, save_graph\n"
        "print(json.dumps({'modules': list(sys.modules)}))\n"
    )
    assert not {"torch", "torch_geometric", "pyarrow", "matplotlib"} & set(found["modules"])


def test_module_runs_like_the_command():
    done = subprocess.run([sys.executable, "-m", "shadow_gnn", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"shadow {shadow_gnn.__version__}\n"


def test_every_public_name_can_be_reached():
    assert all(getattr(shadow_gnn, name) is not None for name in shadow_gnn.__all__)


def test_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == shadow_gnn.__version__
