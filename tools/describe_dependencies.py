"""Describe the dependencies: what an installation pulls, how large it is, how long an import takes, why it is needed.

Not for: the pins of development (constraints.txt). Run in an environment that holds the package alone:

    python tools/describe_dependencies.py > docs/dependencies.md
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
WHY = {
    "numpy": "arrays everywhere",
    "scipy": "sparse products of baselines and diffusion, SVD of text columns",
    "pyarrow": "reads CSV, Parquet and Feather, writes tables of predictions",
    "annotated-types": "bounds of options, read by extractors and recipes",
    "pydantic": "recipes: types, bounds, all faults at once",
    "typing-extensions": "types that Python 3.11 lacks",
    "typer": "the command line",
    "rich": "tables and progress bars",
    "matplotlib": "pictures",
    "torch": "models and training",
    "torch_geometric": "convs and aggregations by name, batches, samplers",
    "lightning-fabric": "devices, precision, several processes",
    "safetensors": "weights in a file that runs no code",
}
IMPORTED = {"pyarrow": "pyarrow.csv", "matplotlib": "matplotlib.figure", "lightning-fabric": "lightning_fabric"}
EXTRAS = {
    "networkx": "`from_networkx`",
    "pandas": "answers as pandas tables",
    "notebooks": "the notebooks in `examples`",
    "tensorboard": "event files of training",
    "wandb": "a run of Weights & Biases",
    "tune": "`shadow tune`",
    "index": "approximate neighbors in features",
    "serve": "`shadow serve` and its clients",
    "hub": "`shadow share`, `from_pretrained` by id",
    "onnx": "`shadow export model.onnx`",
}
STARTS = {
    "import shadow_gnn": ["-c", "import shadow_gnn"],
    "shadow --help": ["-m", "shadow_gnn", "--help"],
    "from shadow_gnn import open_graph; open_graph": ["-c", "from shadow_gnn import open_graph"],
    "from shadow_gnn import NodeClassifier": ["-c", "from shadow_gnn import NodeClassifier"],
}
ROUNDS = 3


def plain(name: str) -> str:
    """Return the one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(found: Distribution) -> Iterator[str]:
    """Give the names that a package needs here, without extras."""
    from packaging.requirements import Requirement

    for text in found.requires or ():
        one = Requirement(text)
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            yield plain(one.name)


def closure(name: str, seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """Return a package and all that it needs, as installed."""
    if name not in seen:
        try:
            seen[name] = distribution(name)
        except PackageNotFoundError:
            return seen
        for other in required(seen[name]):
            closure(other, seen)
    return seen


def size(found: Distribution) -> int:
    """Return the bytes of a package's files on disk."""
    paths = (Path(str(found.locate_file(file))) for file in found.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")


def cpu_seconds(arguments: list[str]) -> float:
    """Return the CPU time of a new Python process, the median of several."""
    code = (
        "import os, subprocess, sys;"
        "subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL);"
        "times = os.times(); print(times.children_user + times.children_system)"
    )
    run = [sys.executable, "-c", code, *arguments]
    return median(float(subprocess.run(run, check=True, capture_output=True, text=True).stdout) for _ in range(ROUNDS))


def megabytes(count: int) -> str:
    """Return a size for a table."""
    return f"{count / 1e6:,.1f}" if count < 1e7 else f"{count / 1e6:,.0f}"


def needed_rows(project: dict[str, list[str]], empty: float) -> Iterator[str]:
    """Give a row for each dependency that every installation has."""
    lowest = {plain(re.split(r"[><=]", text)[0]): text for text in project["dependencies"]}
    for name, why in WHY.items():
        found = distribution(name)
        with_all = closure(plain(name), {})
        seconds = cpu_seconds(["-c", f"import {IMPORTED.get(name, name.replace('-', '_'))}"]) - empty
        yield (
            f"| {name} | {lowest[plain(name)].partition('>=')[2]} | {found.version} | {megabytes(size(found))} "
            f"| {len(with_all) - 1} | {max(seconds, 0):.2f} | {why} |"
        )


def page() -> Iterator[str]:
    """Give the lines of docs/dependencies.md."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = {plain(re.split(r"[><=]", text)[0]) for text in project["dependencies"]}
    if known != {plain(name) for name in WHY}:
        sys.exit(f"WHY: must name every dependency, differs in {sorted(known ^ {plain(name) for name in WHY})}")
    empty = cpu_seconds(["-c", "pass"])
    whole = closure("shadow-gnn", {})
    total, torch = sum(map(size, whole.values())), size(distribution("torch"))
    yield "# Dependencies\n"
    yield "`pip install shadow-gnn` pulls the packages of the first table and what they need in turn. Written by"
    yield f"`python tools/describe_dependencies.py` on {date.today()} with Python {sys.version.split()[0]}:"
    yield f"{len(whole) - 1} packages,"
    yield f"{megabytes(total)} MB on disk, of which torch has {megabytes(torch)} MB"
    yield f"(version {distribution('torch').version};"
    yield "builds for GPUs are several times larger) and this package"
    yield f"{megabytes(size(distribution('shadow-gnn')))} MB.\n"
    yield "## Every installation\n"
    yield "*Lowest* is the oldest version that was tried (`constraints-lowest.txt`), *MB* the package itself, *needs*"
    yield "the number of packages that come with it, and *import* the CPU seconds of an import in a new process,"
    yield "without those of Python itself.\n"
    yield "| package | lowest | here | MB | needs | import, s | purpose |"
    yield "| --- | --- | --- | ---: | ---: | ---: | --- |"
    yield from needed_rows(project, empty)
    yield "\nNone of them is loaded before it is used:\n"
    yield "| start | CPU seconds |"
    yield "| --- | ---: |"
    for name, arguments in STARTS.items():
        yield f"| `{name.partition(';')[0]}` | {cpu_seconds(arguments):.2f} |"
    yield "\n`tests/test_front_door.py` and `tests/cli/test_main.py` hold the first two to modules that are light.\n"
    yield "## Optional\n"
    yield "| extra | packages | purpose |"
    yield "| --- | --- | --- |"
    for extra, why in EXTRAS.items():
        names = ", ".join(re.split(r"[><=;]", text)[0] for text in project["optional-dependencies"][extra])
        yield f"| `{extra}` | {names} | {why} |"
    yield "\n## Why not optional\n"
    yield "- **pyarrow**, **scipy** and **matplotlib** are needed by the first commands of a new user: import, train,"
    yield "  draw. A missing package in the middle of a tutorial costs more than their size next to torch's."
    yield "- **torch_geometric** is pure Python, and layers, readouts and batches by its names are part of recipes."
    yield "- **rich** and **typer** make the command line, **pydantic** reads recipes: no run works without them."
    yield "- Metrics are our own sums, compared with torchmetrics in the tests: torchmetrics is not needed."


if __name__ == "__main__":
    print("\n".join(page()))
