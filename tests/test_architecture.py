"""Who may import whom, what no room may do, and what importing the package must not load or change."""

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import shadow_gnn

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "shadow_gnn"

# The rooms of src/shadow_gnn in the order in which data flows: an import goes only to rooms before it in this list, at
# the top of a file, inside a function or for type checking.
ROOMS = (
    "base",
    "graph",
    "extract",
    "recipe",
    "loading",
    "nn",
    "tasks",
    "normal",
    "training",
    "inference",
    "studies",
    "serve",
    "explore",
    "cli",
)

CORE_USERS = {"base", "extract", "graph", "nn", "normal"}
HEAVY = {"torch", "torch_geometric", "numpy", "scipy", "pyarrow", "pandas", "matplotlib", "networkx"}
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}

FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms_imported(path: Path) -> Iterator[tuple[str, int]]:
    """Give (room, line) for every import of the package's own modules in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
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
                yield (parts[1] if len(parts) > 1 else "__init__"), node.lineno


def in_subprocess(code: str) -> dict[str, object]:
    """Run code in a fresh Python; its last line of output is JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def breaches(path: Path) -> list[str]:
    """Name every import of a file that goes against the order of the rooms."""
    room = room_of(path)
    if room not in ROOMS:  # The front door and `python -m shadow_gnn` open every room.
        return []
    allowed = {*ROOMS[: ROOMS.index(room) + 1], "_core"}
    return [
        f"{path.relative_to(ROOT)}, line {line}: {room} imports {other}, which comes after it"
        for other, line in rooms_imported(path)
        if other not in allowed
    ]


def test_imports_go_to_rooms_before():
    assert [breach for path in FILES for breach in breaches(path)] == []


def test_a_breach_names_file_line_and_rooms(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    path = tmp_path / "graph" / "store.py"
    path.parent.mkdir()
    path.write_text("from shadow_gnn.base.errors import FolderError\n\ndef f():\n    import shadow_gnn.nn.model\n")
    assert breaches(path) == ["graph/store.py, line 4: graph imports nn, which comes after it"]


def test_the_package_holds_the_rooms_and_little_else():
    entries = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert entries == {*ROOMS, "__init__.py", "__main__.py", "_core.pyi", "client.py", "py.typed"}


def test_only_five_rooms_use_the_compiled_core():
    users = {room_of(path) for path in FILES for other, _ in rooms_imported(path) if other == "_core"}
    assert users == CORE_USERS


def test_the_core_knows_neither_torch_nor_python_but_for_its_bindings():
    for path in sorted((ROOT / "core").glob("*.h")):
        if path.name == "binding.h":
            continue
        text = path.read_text()
        assert not any(word in text for word in ("nanobind", "Python.h", "torch/")), path.name


def runs_code(source: str) -> list[str]:
    """Name every import, call and argument of a module that could run code from data."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in UNSAFE_MODULES]
        elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in UNSAFE_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            found += [called] if called in ("eval", "exec", "torch.load", "np.load", "numpy.load") else []
            found += [word.arg for word in node.keywords if word.arg == "allow_pickle"]
    return found


def test_nothing_runs_code_from_data():
    found = {str(path.relative_to(PACKAGE)): runs_code(path.read_text()) for path in FILES}
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", ["pickle"]),
        ("def f():\n    from joblib.pool import x", ["joblib.pool"]),
        ("eval('1')", ["eval"]),
        ("np.load(path, allow_pickle=False)", ["np.load", "allow_pickle"]),
        ("import json\nload(path)", []),
    ],
)
def test_what_runs_code_is_found(source, found):
    assert runs_code(source) == found


def voices(source: str) -> set[str]:
    """Return the calls of a module that print or exit."""
    calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
    return calls & {"print", "sys.exit", "exit", "os._exit", "typer.echo"}


def test_only_the_command_line_prints_or_exits():
    found = {str(path.relative_to(PACKAGE)): voices(path.read_text()) for path in FILES if room_of(path) != "cli"}
    assert {name: calls for name, calls in found.items() if calls} == {}
    assert voices("def f():\n    print(exit())\n    sys.exit(2)") == {"print", "exit", "sys.exit"}


def test_every_module_says_what_it_is_for_and_what_not():
    texts = {str(path.relative_to(PACKAGE)): ast.get_docstring(ast.parse(path.read_text())) for path in FILES}
    assert [name for name, text in texts.items() if text is None or "Not for:" not in text] == []


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


# The help of extract is written from the extractors' own options, so it loads them.
@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [(["--help"], set()), (["data", "import", "--help"], set()), (["extract", "--help"], {"numpy"})],
)
def test_help_loads_nothing_heavy(arguments, allowed):
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
    assert not (HEAVY - allowed) & set(found["modules"])
    assert found["threads"] == 1


def test_graph_folders_open_without_torch():
    found = in_subprocess(
        "import json, sys\n"
        "from shadow_gnn import extract, open_graph, read_recipe, save_graph\n"
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
