"""Webster: read the Collaborative International Dictionary of English (GCIDE) from Debian's package dict-gcide.

Not for: labels or edges. Paragraphs that come from WordNet are left out.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from study_sources import debian_package

PACKAGE = "dict-gcide"
# "Abdomen \Ab*do"men\, n. [L. abdomen ...]": the headword stands before the pronunciation.
ENTRY = re.compile(r"\n(?=[^\s\\]+(?: [^\s\\]+)* \\)")
FROM_WORDNET = re.compile(r"\[[^\[\]]*WordNet[^\[\]]*\]")
SOURCE_TAG = re.compile(r"\[[^\[\]]*(?:Webster|PJC|Century)[^\[\]]*\]")
REFERENCE = re.compile(r"\{([^{}]+)\}")
PRONUNCIATION = re.compile(r"\\[^\\]*\\")
# Letters with accents and ligatures are written ["o], [a^], [=e], [ae]; [L.] is the language of an origin.
ACCENT = re.compile(r"""\[(?:[-^"=`'~,.:](ae|oe|[a-zA-Z])|(ae|oe|[a-zA-Z])[-^"=`'~,:]|(ae|oe))\]""")


@dataclass(frozen=True)
class Entry:
    """All that the dictionary says about a headword."""

    name: str
    """In lower case; entries of the same name are one."""
    text: str
    """Definitions and notes, without source tags and pronunciations."""
    references: tuple[str, ...]
    """Names in braces: see also, synonyms, inflections."""


def read_webster(cache: Path) -> tuple[list[Entry], str]:
    """Return the entries in the order of names, and the version of the package."""
    folder = debian_package(cache, PACKAGE)
    with gzip.open(folder / "usr" / "share" / "dictd" / "gcide.dict.dz") as stream:
        text = stream.read().decode("utf-8", "replace")
    return entries(text), (folder / "VERSION").read_text().strip()


def entries(text: str) -> list[Entry]:
    """Join the paragraphs of each headword."""
    found: dict[str, list[str]] = {}
    for name, body in _blocks(text):
        found.setdefault(name, []).append(body)
    return [_entry(name, "\n".join(found[name])) for name in sorted(found)]


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Give headword and text of each block that has paragraphs from other sources than WordNet."""
    for block in ENTRY.split("\n" + text)[1:]:
        name = block.partition("\\")[0].strip().lower()
        paragraphs = [part for part in re.split(r"\n\s*\n", block) if not FROM_WORDNET.search(part)]
        if paragraphs and re.fullmatch(r"[a-z][a-z' -]*", name):
            yield name, "\n".join(paragraphs)


def _entry(name: str, body: str) -> Entry:
    body = ACCENT.sub(r"\1\2\3", PRONUNCIATION.sub(" ", SOURCE_TAG.sub(" ", body)))
    references = tuple(" ".join(found.lower().split()) for found in REFERENCE.findall(body))
    return Entry(name, re.sub(r"\s+", " ", body), references)
