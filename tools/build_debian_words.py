"""Build the table of words with which examples/serve_demo.py turns a description into features of the built-in graph.

Not for: building the graph itself (build_debian_graph.py), of whose package lists it must be. The features of the graph
are TF-IDF rows times a matrix with a row for each word. The table has the rows of the words that most packages use.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from build_debian_graph import LISTS, MIN_PACKAGES_PER_WORD, WORD, read_packages, the_list
from numpy.typing import NDArray
from pack_graph import write_npz
from scipy.sparse import csr_array
from text_features import word_spread, word_weights

from shadow_gnn import open_dataset

OUT = Path(__file__).resolve().parent.parent / "examples" / "debian_words.npz"
NUM_WORDS = 5000


def word_rows(weights: csr_array, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the matrix that turns TF-IDF rows into features, which are their first singular vectors. [words, columns]

    The features are U S and the rows U S V', so that V = rows' U S / S^2.
    """
    return np.asarray(weights.T @ features) / (features.astype(np.float64) ** 2).sum(axis=0)


def table(bags: list[list[str]], features: NDArray[np.float32], num_words: int) -> dict[str, NDArray[np.generic]]:
    """Return the most common words, the logarithm of their rarity, and their rows as int8 with a scale per column."""
    spread = word_spread(bags, MIN_PACKAGES_PER_WORD)
    rows = word_rows(word_weights(bags, MIN_PACKAGES_PER_WORD), features)
    words, counts = list(spread), np.array(list(spread.values()))
    kept = np.sort(np.argsort(-counts, kind="stable")[:num_words])
    scale = np.abs(rows[kept]).max(axis=0) / 127
    return {
        "word": np.frombuffer("\n".join(words[at] for at in kept).encode(), np.uint8),
        "rarity": np.log(len(bags) / counts[kept]).astype(np.float32),
        "row": np.rint(rows[kept] / scale).astype(np.int8),
        "scale": scale.astype(np.float32),
    }


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=Path, default=LISTS, help="folder of apt's lists, with long descriptions")
    parser.add_argument("--num-words", type=int, default=NUM_WORDS)
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    packages_path = the_list(chosen.lists, "*_main_binary-*_Packages*")
    descriptions = the_list(chosen.lists, "*_main_i18n_Translation-en*")
    if packages_path is None or descriptions is None:
        parser.error(f"{chosen.lists} must have the lists of packages and of descriptions; see build_debian_graph.py")
    packages = read_packages(packages_path, descriptions)
    graph = open_dataset("debian")
    assert graph.x is not None
    assert graph.node_name is not None
    names = [graph.node_name[node] for node in range(graph.num_nodes)]
    if names != [package.name for package in packages]:
        parser.error(f"{chosen.lists} must be of the release that the built-in graph is of")
    bags = [WORD.findall(package.text) for package in packages]
    write_npz(chosen.out, table(bags, graph.x.rows(np.arange(graph.num_nodes)), chosen.num_words))
    print(f"{chosen.out}: {chosen.num_words} words, {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
