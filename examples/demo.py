"""A tour in less than a minute: two graphs are imported, described, extracted from, loaded in batches, and drawn.

Not for: training, which is not there yet. Everything is written below runs/demo.
"""

import csv
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np

from shadow_gnn import Graph, Loader, open_graph
from shadow_gnn.analysis.scope_drawing import draw_scope
from shadow_gnn.extract import PprExtractor

OUT = Path("runs/demo")
NUM_NODES, NUM_CLASSES = 20_000, 8


def shadow(*arguments: object) -> None:
    """Run the real command line and show what it says."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ shadow {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "shadow_gnn", *words], check=True)


def write_table(path: Path, header: tuple[str, str], rows: object) -> None:
    """Write two columns as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)  # type: ignore[arg-type]


def write_karate_club(folder: Path) -> None:
    """Write Zachary's karate club: 34 members, who meets whom, and which side each took when the club split."""
    club = nx.karate_club_graph()
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "edges.csv", ("src", "dst"), club.edges())
    sides = ((node, int(side != "Mr. Hi")) for node, side in club.nodes(data="club"))
    write_table(folder / "labels.csv", ("node", "label"), sides)


def write_power_law(folder: Path, seed: int) -> None:
    """Write a generated graph: few hubs and many leaves, in communities that features hint at."""
    rng = np.random.default_rng(seed)
    community = rng.integers(NUM_CLASSES, size=NUM_NODES)
    popularity = rng.pareto(1.6, NUM_NODES) + 1
    num_edges = 6 * NUM_NODES
    src = rng.choice(NUM_NODES, num_edges, p=popularity / popularity.sum())
    dst = rng.choice(NUM_NODES, num_edges, p=popularity / popularity.sum())
    # Four edges of five stay inside the community of their sender.
    inside = rng.random(num_edges) < 0.8
    for number in range(NUM_CLASSES):
        members = np.flatnonzero(community == number)
        edges = np.flatnonzero(inside & (community[src] == number))
        dst[edges] = rng.choice(members, len(edges), p=popularity[members] / popularity[members].sum())
    centres = rng.normal(size=(NUM_CLASSES, 32))
    features = centres[community] + 2 * rng.normal(size=(NUM_NODES, 32))
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "edges.csv", ("src", "dst"), np.stack((src, dst), axis=1).tolist())
    write_table(folder / "labels.csv", ("node", "label"), enumerate(community.tolist()))
    np.save(folder / "features.npy", features.astype(np.float32))


def time_extraction(graph: Graph, extractor: PprExtractor) -> None:
    """Extract a scope for a thousand targets and say how long one takes."""
    targets = np.random.default_rng(0).choice(graph.num_nodes, 1000, replace=False)
    extractor(graph, targets[:10])  # The first call pays for scratch memory.
    begin = time.perf_counter()
    scopes = extractor(graph, targets)
    seconds = time.perf_counter() - begin
    print(f"{len(scopes):,} scopes of {np.diff(scopes.ptr).mean():.0f} nodes on average in {seconds:.2f} s", end="")
    print(f", {1e6 * seconds / len(scopes):.0f} µs each")


def time_loading(graph: Graph, extractor: PprExtractor) -> None:
    """Go through a few batches of the training nodes as a training loop would."""
    loader = Loader(graph, extractor, graph.splits["train"][:1280], batch_size=128, shuffle=True, seed=0)
    begin = time.perf_counter()
    for number, batch in enumerate(loader):
        if number < 3:
            print(f"batch {number}: {len(batch)} targets, {batch.num_nodes:,} nodes, {batch.num_edges:,} edges", end="")
            print(f", x {tuple(batch.x.shape)}, rows within 0, 1, 2 hops: {batch.hop_ptr[:3]}")
    seconds = time.perf_counter() - begin
    print(f"{len(loader)} batches in {seconds:.2f} s, extraction, features and labels included")


def draw(graph: Graph, path: Path) -> None:
    """Draw the scope of one node of middling degree, neither leaf nor hub."""
    degree = np.diff(graph.indptr)
    target = int(np.flatnonzero(degree == 8)[0])
    scope = PprExtractor(topk=60)(graph, [target])[0]
    num_nodes, num_edges = len(scope.node_id), len(scope.indices) // 2
    draw_scope(scope, path, title=f"PPR scope of node {target:,}: {num_nodes} nodes, {num_edges} edges")


def main() -> None:
    """Run the whole tour."""
    karate, power_law = OUT / "karate", OUT / "power-law"
    write_karate_club(karate)
    write_power_law(power_law, seed=0)

    print("Zachary's karate club, a graph small enough to know every node")
    shadow("data", "import", karate / "edges.csv", karate / "graph", "--labels", karate / "labels.csv", "--overwrite")
    shadow("data", "info", karate / "graph", "--verify")
    shadow("extract", karate / "graph", "--topk", 10)

    print("\nA generated power-law graph with communities, features and labels")
    files = ("--features", power_law / "features.npy", "--labels", power_law / "labels.csv", "--split", "60/20/20")
    shadow("data", "import", power_law / "edges.csv", power_law / "graph", *files, "--overwrite")
    shadow("data", "info", power_law / "graph", "--png", OUT / "degrees.png")
    shadow("extract", power_law / "graph", "--png", OUT / "scopes.png", "--json", OUT / "scopes.json")

    print("\nThe same in Python")
    graph = open_graph(power_law / "graph")
    extractor = PprExtractor(topk=200)
    time_extraction(graph, extractor)
    time_loading(graph, extractor)
    draw(graph, OUT / "scope.png")

    print("\nLook at:")
    for name, what in (
        ("scope.png", "the scope of one target"),
        ("scopes.png", "sizes, hops and times of many scopes"),
        ("scopes.json", "the same as numbers"),
        ("degrees.png", "the degrees of the graph"),
        ("power-law/graph", "a graph folder"),
    ):
        print(f"  {OUT / name}  {what}")


if __name__ == "__main__":
    main()
