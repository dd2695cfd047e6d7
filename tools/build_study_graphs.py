"""Build the graphs for studies as graph folders OUT/<name>; docs/study-graphs.md describes them.

    python tools/build_study_graphs.py OUT                       all of them
    python tools/build_study_graphs.py OUT --only debian-teams   one of them; may be given several times

Downloads are kept in the cache folder. A build that was stopped continues from there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import build_debian_teams_graph
import build_linux_calls_graph
import build_perl_namespaces_graph
import build_python_roles_graph
import build_thesaurus_origins_graph
import build_webster_fields_graph
from study_graph import CACHE, Builder, write

BUILDERS: dict[str, Builder] = {
    module.NAME: module.build
    for module in (
        build_debian_teams_graph,
        build_webster_fields_graph,
        build_thesaurus_origins_graph,
        build_linux_calls_graph,
        build_python_roles_graph,
        build_perl_namespaces_graph,
    )
}
HELD_OUT = (build_python_roles_graph.NAME, build_perl_namespaces_graph.NAME)
"""Never used for a choice; only for a final check."""


def main() -> None:
    """Build the chosen graphs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder that gets the graph folders")
    parser.add_argument("--only", action="append", choices=list(BUILDERS), help="build this one")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of downloads, kept for the next time")
    chosen = parser.parse_args()
    for name in chosen.only or BUILDERS:
        write(name, BUILDERS[name], chosen.out, chosen.cache.resolve())


if __name__ == "__main__":
    main()
