"""Features of the built-in graph for a description of your own, by the table of words beside this file.

The features of the built-in graph are TF-IDF rows of the descriptions times a matrix with a row for each word
(docs/built-in-graph.md). The table has the most common words alone, so that the features are close and not equal.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np

TABLE = Path(__file__).with_name("debian_words.npz")
WORD = re.compile(r"[a-z][a-z0-9]*(?:\+\+|#)?")


def description_features(text: str) -> np.ndarray:
    """Return the 64 features of a description; words that the table does not have are left out."""
    with np.load(TABLE, allow_pickle=False) as table:
        place = {word: at for at, word in enumerate(table["word"].tobytes().decode().split("\n"))}
        rarity, row, scale = table["rarity"], table["row"], table["scale"]
    counts = Counter(word for word in WORD.findall(text.lower()) if word in place)
    if not counts:
        raise ValueError(f"description: must have a word of the table, got {text!r:.80}")
    words = np.array([place[word] for word in counts])
    weight = (1 + np.log(list(counts.values()))) * rarity[words]
    return (weight / np.linalg.norm(weight)) @ (row[words] * scale)
