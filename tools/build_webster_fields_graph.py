"""Build the graph webster-fields: the words of Webster's dictionary of 1913 and the fields of knowledge they belong to.

Source    Debian's package dict-gcide (GCIDE, without its paragraphs from WordNet)
Nodes     headwords
Edges     a headword to each word in its entry that is a headword too and is used by at most MAX_USERS entries, and to
          the headwords that it refers to (see also, synonyms)
Features  words of the entry, without its marks of fields
Labels    several for each word: fields that the entry marks, as (Bot.), (Law), (Mus.); words without a mark are nodes
          without a label
Split     a hash of the headword, 60, 20 and 20 of a hundred
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from study_graph import StudyGraph, command, features, label_sets
from webster import Entry, read_webster

NAME = "webster-fields"
MARK = re.compile(r"\(([A-Z][A-Za-z.&, ]{1,40})\)")
WORD = re.compile(r"[a-z]+")
# One field under two marks. Of several words the last is the field: (Eng. Law) is law.
SAME_FIELD = {
    "Optics": "Opt",
    "Printing": "Print",
    "Painting": "Paint",
    "Music": "Mus",
    "Elect": "Elec",
    "Railroads": "Railroad",
    "Railroading": "Railroad",
    "Geography": "Geog",
    "Phonetics": "Phon",
    "Arts": "Art",
    "Engine": "Engin",
    "Min": "Mineralogy",
    "Man": "Horsemanship",
    "Far": "Farriery",
    "Arch": "Architecture",
    "Com": "Commerce",
    "Ch": "Church",
    "Playing": "Card Playing",
    "Making": "Manuf",
}
# In parentheses and with a capital letter too, but no field: authors, Latin words, formulas.
NO_FIELD = {"Fig", "Thucyd", "Eng", "Ver", "Dict", "in", "ad", "OH", "etc", "Gr", "Trans", "Colloq", "Obs", "Scot", "S"}
MIN_WORDS_PER_FIELD = 40
MAX_USERS = 100
NUM_COLUMNS = 128


def fields_of(entry: Entry) -> set[str]:
    """Return the fields that an entry marks: (Anat. & Zool.) are two."""
    parts = (part.split() for mark in MARK.findall(entry.text) for part in re.split(r"[&,]", mark))
    lasts = {part[-1].strip(".").rpartition(".")[2] for part in parts if part}
    return {SAME_FIELD.get(last, last) for last in lasts} - NO_FIELD


def words_of(entry: Entry) -> list[str]:
    """Return the words of an entry without its marks and without the headword, which begins it."""
    return [word for word in WORD.findall(MARK.sub(" ", entry.text).lower()) if word != entry.name]


def definition_edges(entries: Sequence[Entry], bags: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return (entry, headword in it) pairs; a reference counts however many entries use its word."""
    number = {entry.name: node for node, entry in enumerate(entries)}
    users = Counter(word for bag in bags for word in set(bag))
    pairs = set()
    for node, (entry, bag) in enumerate(zip(entries, bags, strict=True)):
        used = {word for word in bag if users[word] <= MAX_USERS} | set(entry.references)
        pairs |= {(node, number[word]) for word in used if number.get(word, node) != node}
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def build(cache: Path) -> StudyGraph:
    """Build the graph from the dictionary."""
    entries, version = read_webster(cache)
    bags = [words_of(entry) for entry in entries]
    y, fields = label_sets([fields_of(entry) for entry in entries], MIN_WORDS_PER_FIELD)
    return StudyGraph(
        node_names=[entry.name for entry in entries],
        edges=definition_edges(entries, bags),
        x=features(bags, NUM_COLUMNS),
        y=y,
        class_names=fields,
        groups=[entry.name for entry in entries],
        source={"debian_package": version},
    )


if __name__ == "__main__":
    command(NAME, build, __doc__)
