"""Module tables: CSV files of this machine's own Python modules and their imports, as data to learn from.

Not for: the product; docs/tutorial.md starts from these files. Nothing is imported: the sources are read as text.
"""

from __future__ import annotations

import ast
import csv
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LEAST_MODULES = 12
"""Packages with fewer modules give no label."""
LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "ensurepip", "__pycache__"}
NEW = ("zipapp", "tomllib._parser", "email.policy", "asyncio.taskgroups", "json.tool")
"""Modules that the first tables leave out, to be predicted later."""


def modules() -> Iterator[tuple[str, Path, bool]]:
    """Yield name, file and whether it is a package, of each module of the standard library, in order."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if LEFT_OUT.isdisjoint(parts) and all(part.isidentifier() for part in parts):
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            if name:
                yield name, path, is_package


def imported(tree: ast.Module, name: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield the names that a module imports, and whether at the top or inside a function."""
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        where = "top" if id(node) in top else "inside"
        if isinstance(node, ast.Import):
            yield from ((alias.name, where) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".")
            base = base[: len(base) - node.level + is_package] if node.level else []
            start = ".".join([*base, *(node.module.split(".") if node.module else [])])
            yield from ((f"{start}.{alias.name}" if start else alias.name, where) for alias in node.names)


def first_line(tree: ast.Module) -> str:
    """Return the first paragraph of a docstring on one line."""
    text = (ast.get_docstring(tree) or "").split("\n\n")[0]
    return " ".join(text.split())[:300]


def row_of(name: str, path: Path, is_package: bool, tree: ast.Module, text: str) -> dict[str, object]:
    """Return the row of a module, without its label."""
    kinds = Counter(type(node).__name__ for node in ast.walk(tree))
    runs = '__name__ == "__main__"' in text or "__name__ == '__main__'" in text
    return {
        "name": name,
        "kind": "package" if is_package else "script" if runs else "module",
        "lines": text.count("\n"),
        "functions": kinds["FunctionDef"] + kinds["AsyncFunctionDef"],
        "classes": kinds["ClassDef"],
        "is_private": str(name.split(".")[-1].startswith("_")).lower(),
        "share_of_comments": round(sum(line.lstrip().startswith("#") for line in text.split("\n")) / len(text), 5)
        if text
        else "",
        "summary": first_line(tree),
    }


def read_modules() -> tuple[list[dict[str, object]], Counter[tuple[str, str, str]]]:
    """Return the rows of all modules, and how often each imports another at the top or inside a function."""
    rows, trees = [], {}
    for name, path, is_package in modules():
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        rows.append(row_of(name, path, is_package, tree, text))
        trees[name] = tree, is_package
    links: Counter[tuple[str, str, str]] = Counter()
    for name, (tree, is_package) in trees.items():
        for target, where in imported(tree, name, is_package):
            # A name inside a module counts for the module.
            while target and target not in trees:
                target = target.rpartition(".")[0]
            if target and target != name:
                links[name, target, where] += 1
    sizes = Counter(str(row["name"]).split(".")[0] for row in rows)
    for row in rows:
        package = str(row["name"]).split(".")[0]
        row["package"] = package if sizes[package] >= LEAST_MODULES else ""
    return rows, links


def write(path: str, heads: list[str], rows: list[list[object]]) -> None:
    """Write a CSV file and say how many rows it has."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])
    print(f"{path}: {len(rows):,} rows")


def main() -> None:
    """Write modules.csv and imports.csv, and new-modules.csv and new-imports.csv for later."""
    rows, links = read_modules()
    heads = list(rows[0])
    old, new = ([row for row in rows if (row["name"] in NEW) == later] for later in (False, True))
    write("modules.csv", heads, [list(row.values()) for row in old])
    write("new-modules.csv", [h for h in heads if h != "package"], [list(row.values())[:-1] for row in new])
    known = {False: [], True: []}
    for (name, target, where), count in sorted(links.items()):
        known[name in NEW or target in NEW].append([name, target, where, count])
    write("imports.csv", ["importer", "imported", "where", "weight"], known[False])
    write("new-imports.csv", ["importer", "imported", "where", "weight"], known[True])


if __name__ == "__main__":
    sys.exit(main())
