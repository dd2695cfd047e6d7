"""Build the graph linux-calls: the functions of the Linux kernel, who calls whom, and the subsystems they belong to.

Source    Debian's package linux-source-6.1
Nodes     functions defined in .c files (without tools, samples, scripts, tests and all architectures but x86)
Edges     calls by name: to the function of the same file, else to the only global function of this name
Features  words of the function's name, of its parameters and of the comment above it; neither path nor body
Labels    the subsystem: the first folder of the path, below drivers the second
Split     a hash of the file's path, 60, 20 and 20 of a hundred
"""

from __future__ import annotations

import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from study_graph import StudyGraph, classes, command, features
from study_sources import debian_package

NAME = "linux-calls"
PACKAGE = "linux-source-6.1"
LEFT_OUT = re.compile(
    r"(tools|samples|scripts|Documentation|arch/(?!x86/)|lib/test|.*(kunit|selftest|/tests?/|_test\.c))"
)
# Kernel style: a definition begins in the first column and its body ends with a brace there.
DEFINITION = re.compile(
    r"^(?P<type>[A-Za-z_][\w \t*\n]*?[\s*])(?P<name>[A-Za-z_]\w*)"
    r"\((?P<parameters>[^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*)\)"
    r"[^;{}()=#]*\n\{\n(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"/\*(?:(?!\*/).)*\*/\s*\Z", re.DOTALL)
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
# Macros that take a function's name and parameters look like a definition.
NOT_A_NAME = {"if", "for", "while", "switch", "return", "sizeof", "__acquires", "__releases"}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+[a-z]*")
MIN_FUNCTIONS_PER_SUBSYSTEM = 1500
MIN_FUNCTIONS_PER_WORD = 20
# A comment above a function may be a chapter: its last part is about the function.
COMMENT_LENGTH = 1000
NUM_COLUMNS = 128


@dataclass(frozen=True)
class Function:
    """What the graph takes from one definition."""

    path: str
    name: str
    static: bool
    text: str
    """Name, parameters and comment."""
    calls: frozenset[str]


def functions_of(path: str, text: str) -> Iterator[Function]:
    """Give the functions of a file; of two with one name, as in two branches of #ifdef, the first."""
    seen = set()
    for found in DEFINITION.finditer(text):
        name = found["name"]
        if name in seen or name in NOT_A_NAME or found["type"].startswith(("typedef", "return", "else")):
            continue
        seen.add(name)
        above = COMMENT.search(text[max(0, found.start() - COMMENT_LENGTH) : found.start()])
        comment = above.group() if above else ""
        yield Function(
            path=path,
            name=name,
            static="static" in found["type"].split(),
            text=f"{name} {found['parameters']} {comment}",
            calls=frozenset(CALL.findall(found["body"])),
        )


def read_functions(archive: Path) -> list[Function]:
    """Read the functions of all files in the order of paths."""
    found = []
    with tarfile.open(archive) as files:
        for member in files:
            path = member.name.partition("/")[2]
            if member.isfile() and path.endswith(".c") and not LEFT_OUT.match(path):
                stream = files.extractfile(member)
                assert stream is not None
                found.extend(functions_of(path, stream.read().decode("utf-8", "replace")))
    return sorted(found, key=lambda function: (function.path, function.name))


def call_edges(functions: Sequence[Function]) -> NDArray[np.int64]:
    """Return (caller, called) pairs; a name that several files define for all is nobody's."""
    own = {(function.path, function.name): node for node, function in enumerate(functions)}
    shared: dict[str, list[int]] = defaultdict(list)
    for node, function in enumerate(functions):
        if not function.static:
            shared[function.name].append(node)
    pairs = []
    for node, function in enumerate(functions):
        for name in sorted(function.calls):
            called = own.get((function.path, name))
            if called is None and len(shared.get(name, ())) == 1:
                called = shared[name][0]
            if called is not None and called != node:
                pairs.append((node, called))
    return np.array(pairs, np.int64).reshape(-1, 2)


def subsystem_of(path: str) -> str:
    """Return the first folder of a path, below drivers the first two."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] == "drivers" and len(parts) > 2 else 1])


def words_of(function: Function) -> list[str]:
    """Return the words of names with underscores or capitals, and of the comment, in lower case."""
    return [word.lower() for word in WORD.findall(function.text)]


def build(cache: Path) -> StudyGraph:
    """Build the graph from the kernel's source."""
    folder = debian_package(cache, PACKAGE)
    functions = read_functions(folder / "usr" / "src" / f"{PACKAGE}.tar.xz")
    y, subsystems = classes([subsystem_of(function.path) for function in functions], MIN_FUNCTIONS_PER_SUBSYSTEM)
    return StudyGraph(
        node_names=[f"{function.path}:{function.name}" for function in functions],
        edges=call_edges(functions),
        x=features([words_of(function) for function in functions], NUM_COLUMNS, MIN_FUNCTIONS_PER_WORD),
        y=y,
        class_names=subsystems,
        groups=[function.path for function in functions],
        source={"debian_package": (folder / "VERSION").read_text().strip()},
    )


if __name__ == "__main__":
    command(NAME, build, __doc__)
