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
}


def write_reference(folder: Path) -> None:
    """Write one page for each room with public names, and one with all commands; unchanged pages are not touched."""
    folder.mkdir(exist_ok=True)
    rooms = public_names()
    pages = {f"{room}.md": "\n".join(api_page(room, rooms[room])) for room in TITLES if room in rooms}
    pages["commands.md"] = "\n".join(command_page())
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text + "\n":
            path.write_text(text + "\n")


def public_names() -> dict[str, list[str]]:
    """Return the names that `import shadow_gnn` offers, and the kinds of extractors, by room."""
    import shadow_gnn
    from shadow_gnn import extract

    rooms: dict[str, list[str]] = defaultdict(list)
    for name in shadow_gnn.__all__:
        thing = getattr(shadow_gnn, name)
        module = getattr(thing, "__module__", "")
        if module.startswith("shadow_gnn."):
            rooms[module.split(".")[1]].append(f"{module}.{name}")
    for name in extract.__all__:
        module = getattr(getattr(extract, name), "__module__", "")
        if module.startswith("shadow_gnn."):
            rooms["extract"].append(f"{module}.{name}")
    return {room: sorted(set(names), key=lambda name: name.rpartition(".")[2].lower()) for room, names in rooms.items()}


def api_page(room: str, names: list[str]) -> Iterator[str]:
    """Give the lines of the page of a room."""
    import importlib

    yield f"# {TITLES[room]}\n"
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
