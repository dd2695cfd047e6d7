"""Build the graph thesaurus-origins: English synonyms, and the languages that the words come from.

Source    npm's package moby (the Moby Thesaurus) and Debian's package dict-gcide (GCIDE)
Nodes     words of the thesaurus that the dictionary has
Edges     an entry of the thesaurus to each of its synonyms
Features  parts of three and four letters of the word, and words of its definition without origins and references
Labels    the language that the dictionary's origin names first, older stages of English aside; words without an origin
          are nodes without a label
Split     a hash of the word's first five letters, 60, 20 and 20 of a hundred: derived words stay together
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from study_graph import StudyGraph, classes, command, features
from study_sources import npm_package
from webster import REFERENCE, Entry, read_webster

NAME = "thesaurus-origins"
THESAURUS = ("moby", "1.1.2")
WORD = re.compile(r"[a-z]+")
# The innermost ones: origins, with other brackets in them, and pronunciations.
BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
# An origin such as [OE. abiden, AS. abidan] is about AS; [See {Duke}, and cf. F. duc] tells none.
NAMED_FIRST = re.compile(
    r"\[(?:(?:Cf|Prob|Perh)\. |(?:of|from|fr\.) )*(?:O?E\.[^;\[\]]*?(?:, | fr\. | from ))?([A-Z][A-Za-z]*)\."
)
LANGUAGES = {
    "L": "Latin",
    "LL": "Latin",
    "NL": "New Latin",
    "F": "French",
    "OF": "French",
    "Gr": "Greek",
    "AS": "Anglo-Saxon",
    "It": "Italian",
    "Sp": "Spanish",
    "Pg": "Portuguese",
    "G": "German",
    "D": "Dutch",
    "OD": "Dutch",
    "LG": "German",
    "Icel": "Scandinavian",
    "Dan": "Scandinavian",
    "Sw": "Scandinavian",
    "Norw": "Scandinavian",
    "Hind": "Indian",
    "Skr": "Indian",
    "Ar": "Semitic",
    "Heb": "Semitic",
    "W": "Celtic",
    "Gael": "Celtic",
    "Ir": "Celtic",
}
MIN_WORDS_PER_LANGUAGE = 30
NUM_COLUMNS = 128
STEM_LENGTH = 5


def origin_of(entry: Entry) -> str | None:
    """Return the language that the entry's first origin names first, or None."""
    for code in NAMED_FIRST.findall(entry.text):
        if code in LANGUAGES:
            return LANGUAGES[code]
    return None


def parts_of(name: str) -> list[str]:
    """Return the parts of three and four letters of a word with its ends marked."""
    marked = f"<{name}>"
    return [marked[at : at + size] for size in (3, 4) for at in range(len(marked) - size + 1)]


def words_of(entry: Entry) -> list[str]:
    """Return the word's parts and the words of its definition."""
    text, num_removed = entry.text, 1
    while num_removed:
        text, num_removed = BRACKETS.subn(" ", text)
    text = REFERENCE.sub(" ", text).lower()
    return [*parts_of(entry.name), *(word for word in WORD.findall(text) if word != entry.name)]


def synonyms(text: str) -> list[tuple[str, list[str]]]:
    """Return each word of the thesaurus with its synonyms, in lower case."""
    rows = (line.lower().split(",") for line in text.splitlines() if line.strip())
    return [(row[0], row[1:]) for row in rows]


def synonym_edges(number: dict[str, int], rows: Sequence[tuple[str, list[str]]]) -> NDArray[np.int64]:
    """Return (word, synonym) pairs where both are nodes."""
    pairs = [
        (number[word], number[other]) for word, others in rows if word in number for other in others if other in number
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def build(cache: Path) -> StudyGraph:
    """Build the graph from the thesaurus and the dictionary."""
    rows = synonyms((npm_package(cache, *THESAURUS) / "words.txt").read_text(encoding="utf-8"))
    known = {word for word, _ in rows}
    entries, version = read_webster(cache)
    entries = [entry for entry in entries if entry.name in known]
    y, languages = classes([origin_of(entry) for entry in entries], MIN_WORDS_PER_LANGUAGE)
    return StudyGraph(
        node_names=[entry.name for entry in entries],
        edges=synonym_edges({entry.name: node for node, entry in enumerate(entries)}, rows),
        x=features([words_of(entry) for entry in entries], NUM_COLUMNS),
        y=y,
        class_names=languages,
        groups=[entry.name[:STEM_LENGTH] for entry in entries],
        source={"debian_package": version, "npm_package": "@".join(THESAURUS)},
    )


if __name__ == "__main__":
    command(NAME, build, __doc__)
