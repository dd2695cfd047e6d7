"""Reference pages: every public name by the part of the library it belongs to, and the help of every command.

Not for: recipe keys, which recipes.md lists.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TITLES = {
    "graph": "Graphs",
    "extract": "Extractors",
    "recipe": "Recipes",
    "loading": "Batches and loaders",
    "nn": "Networks",
    "tasks": "Tasks",
    "normal": "Normal GNNs",
    "training": "Training",
    "inference": "Predictions",
    "serve": "Serving",
    "studies": "Studies",
    "base": "Memory and files",
    "client": "Client of the service",
}
HERE = Path(__file__).parent


def write_reference(folder: Path) -> None:
    """Write one page for each room with public names, and one with all commands; unchanged pages are not touched."""
    folder.mkdir(exist_ok=True)
    rooms = public_names()
    pages = {f"{room}.md": "\n".join(api_page(room, rooms[room])) for room in TITLES if room in rooms}
    pages["start.md"] = "\n".join(start_page())
    pages["commands.md"] = "\n".join(command_page())
    for name, text in pages.items():
        write_changed(folder / name, text + "\n")


def copy_notebooks(source: Path, folder: Path) -> None:
    """Copy the notebooks, which Sphinx reads only below its own folder."""
    folder.mkdir(exist_ok=True)
    for path in source.glob("*.ipynb"):
        write_changed(folder / path.name, path.read_text())


def write_changed(path: Path, text: str) -> None:
    """Write a file unless it is so already: Sphinx reads touched files again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def public_names() -> dict[str, list[str]]:
    """Return the names that `import shadow_gnn` offers, extractors, parts of networks and clients, by room."""
    import shadow_gnn
    from shadow_gnn import client, extract, nn

    rooms: dict[str, set[str]] = defaultdict(set)
    for package in (shadow_gnn, extract, nn):
        for name in package.__all__:
            module = getattr(getattr(package, name), "__module__", "")
            if module.startswith("shadow_gnn."):
                rooms[module.split(".")[1]].add(f"{module}.{name}")
    rooms["client"] = {f"{client.__name__}.{name}" for name in ("AsyncClient", "Client", "ServiceError")}
    return {room: sorted(names, key=lambda name: name.rpartition(".")[2].lower()) for room, names in rooms.items()}


def start_page() -> Iterator[str]:
    """Give the lines of the page with the start of all examples."""
    code = (HERE / "example_start.py").read_text().partition('"""\n\n')[2]
    yield "# Start of the examples\n"
    yield "Every example of the reference begins with these lines, and the tests run all of them. They make a graph,"
    yield f"a ring of 40 nodes in two halves, and train small models on it.\n\n```python\n{code}```\n"


def api_page(room: str, names: list[str]) -> Iterator[str]:
    """Give the lines of the page of a room."""
    import importlib

    yield f"# {TITLES[room]}\n"
    yield "The examples begin with [these lines](start.md).\n"
    for name in names:
        module, _, short = name.rpartition(".")
        kind = "autoclass" if isinstance(getattr(importlib.import_module(module), short), type) else "autofunction"
        yield f"## {short}\n\n```{{eval-rst}}\n.. {kind}:: {name}"
        if kind == "autoclass":
            yield "   :members:"
        yield "```\n"


def command_page() -> Iterator[str]:
    """Give the lines of the page of all commands: the text of their --help."""
    from typer.main import get_command

    from shadow_gnn.cli.main import app

    yield "# Commands\n"
    yield "Every command prints this with `--help`.\n"
    yield from _command("shadow", get_command(app), None)


def _command(path: str, command: Any, parent: Any) -> Iterator[str]:
    context = command.make_context(path.split()[-1], [], parent=parent, resilient_parsing=True)
    if hasattr(command, "commands"):
        for name in sorted(command.commands):
            yield from _command(f"{path} {name}", command.commands[name], context)
        return
    text = re.sub(r"\x1b\[[0-9;]*m", "", command.get_help(context))
    yield f"## {path}\n\n```text\n{text}\n```\n"
