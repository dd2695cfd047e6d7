"""Build the graph perl-namespaces: Perl modules, which module uses which, and the namespaces they are sorted into.

Source    Debian's packages lib*-perl for all architectures of less than MAX_BYTES, as the machine's release has them
Nodes     modules (.pm files)
Edges     a module to each module that it uses, requires, extends or has as a parent or a role
Features  words of the documentation and of the names of subroutines, without names of modules and of namespaces
Labels    the first part of the module's name (Net, Text, DateTime, ...); namespaces of fewer than MIN_PACKAGES packages
          are nodes without a label
Split     a hash of the Debian package's name, 60, 20 and 20 of a hundred
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from build_debian_graph import paragraphs, read_text, release_of
from numpy.typing import NDArray
from study_graph import StudyGraph, classes, command, features, widespread
from study_sources import apt_list, debian_archives, debian_files

NAME = "perl-namespaces"
FOLDER = "usr/share/perl5/"
MAX_BYTES = 500_000
POD = re.compile(r"^=(?!cut)[a-z]\w*.*?(?:^=cut\b.*?$|\Z)", re.MULTILINE | re.DOTALL)
END = re.compile(r"^__(?:END|DATA)__\s*$", re.MULTILINE)
USE = re.compile(r"^\s*(?:use|require|no|extends|with)\b([^;#]*)", re.MULTILINE)
SUBROUTINE = re.compile(r"^\s*sub\s+(\w+)", re.MULTILINE)
MODULE_NAME = re.compile(r"\w+(?:(?:::|')\w+)*")
# In a text, a name with :: is a module's, and what follows a = is a command of the documentation.
HIDDEN_IN_TEXT = re.compile(r"\w+(?:::\w*)+|^=\w+", re.MULTILINE)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
MIN_PACKAGES = 15
MIN_MODULES = 100
MIN_MODULES_PER_WORD = 20
NUM_COLUMNS = 128


@dataclass(frozen=True)
class Module:
    """What the graph takes from one file."""

    name: str
    """With :: between its parts."""
    package: str
    """The Debian package."""
    words: Counter[str]
    uses: frozenset[str]
    """Words of the statements that load other modules, the names of these among them."""


def parsed(path: str, package: str, text: str) -> Module:
    """Return the module of a file below perl5; code and documentation are mixed in it."""
    name = path.removeprefix(FOLDER).removesuffix(".pm").replace("/", "::")
    code = END.split(POD.sub("\n", text))[0]
    prose = HIDDEN_IN_TEXT.sub(" ", "\n".join(POD.findall(text)))
    spoken = [prose, *SUBROUTINE.findall(code)]
    return Module(
        name=name,
        package=package,
        words=Counter(sys.intern(word.lower()) for part in spoken for word in WORD.findall(part)),
        uses=frozenset(used for statement in USE.findall(code) for used in MODULE_NAME.findall(statement)) - {name},
    )


def use_edges(modules: Sequence[Module]) -> NDArray[np.int64]:
    """Return (user, used) pairs."""
    number = {module.name: node for node, module in enumerate(modules)}
    pairs = [(node, number[used]) for node, module in enumerate(modules) for used in module.uses if used in number]
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def without(words: Counter[str], hidden: frozenset[str]) -> Counter[str]:
    """Return the words that are not hidden."""
    return Counter({word: number for word, number in words.items() if word not in hidden})


def words_of_names(names: Sequence[str]) -> frozenset[str]:
    """Return the words of the namespaces, whole and in parts: DateTime is also date and time."""
    return frozenset(word.lower() for name in names for word in (name, *WORD.findall(name)))


def package_names(packages: str) -> list[str]:
    """Return the names of the Debian packages to read."""
    return sorted(
        {
            fields["Package"]
            for fields in paragraphs(packages)
            if re.fullmatch(r"lib.*-perl", fields["Package"])
            and fields["Architecture"] == "all"
            and int(fields["Size"]) < MAX_BYTES
        }
    )


def read_modules(archives: Sequence[Path]) -> list[Module]:
    """Read every module once, in the order of names; the first package that has it counts."""
    found: dict[str, Module] = {}
    for archive in archives:
        for path, content in debian_files(archive, ".pm"):
            if path.startswith(FOLDER):
                module = parsed(path, archive.name.partition("_")[0], content.decode("utf-8", "replace"))
                found.setdefault(module.name, module)
    return [found[name] for name in sorted(found)]


def build(cache: Path) -> StudyGraph:
    """Build the graph from Debian's packages."""
    path = apt_list(cache, "*_main_binary-*_Packages*")
    archives = debian_archives(cache, package_names(read_text(path)))
    modules = read_modules(archives)
    packages = [module.package for module in modules]
    first = [module.name.partition("::")[0] for module in modules]
    y, names = classes(widespread(first, packages, MIN_PACKAGES), MIN_MODULES)
    hidden = words_of_names(names)
    return StudyGraph(
        node_names=[module.name for module in modules],
        edges=use_edges(modules),
        x=features([without(module.words, hidden) for module in modules], NUM_COLUMNS, MIN_MODULES_PER_WORD),
        y=y,
        class_names=names,
        groups=packages,
        source={key: str(value) for key, value in release_of(path).items()} | {"num_packages": str(len(archives))},
    )


if __name__ == "__main__":
    command(NAME, build, __doc__)
