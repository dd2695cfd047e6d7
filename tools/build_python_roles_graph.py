"""Build the graph python-roles: Python modules, their imports, and the roles that their file names tell.

Source    Debian's packages python3-* for all architectures of less than MAX_BYTES, as the machine's release has them
Nodes     modules, packages (__init__) among them
Edges     a module to each module that it imports
Features  words of the names and docstrings in the module; neither its import statements nor words of its own file name
Labels    the role: the last part of the module's name (utils, exceptions, models, views, ...); packages, tests and
          modules of rare names are nodes without a label
Split     a hash of the name of the module's top-level package, 60, 20 and 20 of a hundred
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from build_debian_graph import paragraphs, read_text, release_of
from numpy.typing import NDArray
from study_graph import StudyGraph, classes, command, features, widespread
from study_sources import apt_list, debian_archives, debian_files

NAME = "python-roles"
FOLDER = "usr/lib/python3/dist-packages/"
MAX_BYTES = 1_000_000
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# One role under two names.
SAME_ROLE = {
    "util": "utils",
    "helper": "utils",
    "helpers": "utils",
    "error": "exceptions",
    "errors": "exceptions",
    "exception": "exceptions",
    "const": "constants",
    "consts": "constants",
    "conf": "config",
    "configuration": "config",
    "model": "models",
    "view": "views",
    "type": "types",
    "typing": "types",
}
TEST = re.compile(r"tests?|tests?_.*|.*_tests?|conftest")
MIGRATION = re.compile(r"\d{4}_.*")
MIN_MODULES_PER_ROLE = 60
MIN_PACKAGES_PER_ROLE = 15
MIN_MODULES_PER_WORD = 20
NUM_COLUMNS = 128


@dataclass(frozen=True)
class Module:
    """What the graph takes from one file."""

    name: str
    """Dotted; a package has the name of its folder."""
    is_package: bool
    words: Counter[str]
    imports: tuple[str, ...]
    """Absolute dotted names of modules or of things in them."""


def role_of(module: Module) -> str | None:
    """Return the role that the file's name tells; None for packages and for tests.

    More than half of all modules with a frequent name are tests, and their asserts tell it.
    """
    stem = module.name.rpartition(".")[2].strip("_").lower()
    if module.is_package or TEST.fullmatch(stem):
        return None
    return "migrations" if MIGRATION.fullmatch(stem) else SAME_ROLE.get(stem, stem)


def parsed(path: str, content: bytes) -> Module | None:
    """Return the module of a file below dist-packages, or None if this Python cannot parse it."""
    parts = path.removeprefix(FOLDER).removesuffix(".py").split("/")
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Old escapes in strings.
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError):
            return None
    own = {word.lower() for word in WORD.findall(parts[-1])}
    # Interned: the words of all modules together are many times larger than the vocabulary.
    words = Counter(sys.intern(word.lower()) for text in texts_of(tree) for word in WORD.findall(text))
    package = name if is_package else name.rpartition(".")[0]
    imports = tuple(dict.fromkeys(imports_of(tree, package)))
    for word in own:
        del words[word]
    return Module(name, is_package, words, imports)


def texts_of(tree: ast.Module) -> Iterator[str]:
    """Give the names and docstrings in a module, import statements aside."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            yield ast.get_docstring(node, clean=False) or ""


def imports_of(tree: ast.Module, package: str) -> Iterator[str]:
    """Give the absolute names that a module of this package imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)


def import_edges(modules: Sequence[Module]) -> NDArray[np.int64]:
    """Return (importer, imported) pairs; a name in a module leads to the module."""
    number = {module.name: node for node, module in enumerate(modules)}
    pairs = set()
    for node, module in enumerate(modules):
        for name in module.imports:
            found = number.get(name, number.get(name.rpartition(".")[0], node))
            if found != node:
                pairs.add((node, found))
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def package_names(packages: str) -> list[str]:
    """Return the names of the Debian packages to read."""
    return sorted(
        {
            fields["Package"]
            for fields in paragraphs(packages)
            if fields["Package"].startswith("python3-")
            and fields["Architecture"] == "all"
            and int(fields["Size"]) < MAX_BYTES
        }
    )


def read_modules(archives: Sequence[Path]) -> list[Module]:
    """Read every module once, in the order of names; the first package that has it counts."""
    found: dict[str, Module] = {}
    for archive in archives:
        for path, content in debian_files(archive, ".py"):
            if path.startswith(FOLDER):
                module = parsed(path, content)
                if module is not None and module.name:
                    found.setdefault(module.name, module)
    return [found[name] for name in sorted(found)]


def build(cache: Path) -> StudyGraph:
    """Build the graph from Debian's packages."""
    path = apt_list(cache, "*_main_binary-*_Packages*")
    archives = debian_archives(cache, package_names(read_text(path)))
    modules = read_modules(archives)
    packages = [module.name.partition(".")[0] for module in modules]
    roles = widespread([role_of(module) for module in modules], packages, MIN_PACKAGES_PER_ROLE)
    y, kept = classes(roles, MIN_MODULES_PER_ROLE)
    return StudyGraph(
        node_names=[module.name for module in modules],
        edges=import_edges(modules),
        x=features([module.words for module in modules], NUM_COLUMNS, MIN_MODULES_PER_WORD),
        y=y,
        class_names=kept,
        groups=packages,
        source={key: str(value) for key, value in release_of(path).items()} | {"num_packages": str(len(archives))},
    )


if __name__ == "__main__":
    command(NAME, build, __doc__)
