"""Build the graph debian-teams: Debian's source packages, their build dependencies, and the teams that maintain them.

Source    the Sources, Packages and Translation-en lists of the machine's Debian release, area main
Nodes     source packages
Edges     a source to the source of each package that it needs for its build
Features  words of the descriptions of its binary packages, without their names and without names of teams
Labels    the team of the field Maintainer; packages of single persons are nodes without a label
Split     a hash of the source's name, 60, 20 and 20 of a hundred
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from build_debian_graph import WORD, names, own_words_removed, paragraphs, read_text, release_of
from numpy.typing import NDArray
from study_graph import StudyGraph, classes, command, features
from study_sources import apt_list

NAME = "debian-teams"
BUILD_RELATIONS = ("Build-Depends", "Build-Depends-Indep", "Build-Depends-Arch")
TEAM = re.compile(r"team|group|maintainers|task force|strike force|project|pkg-|packagers", re.IGNORECASE)
# Nobody's packages are not about one thing.
NO_TEAM = "packages@qa."
MIN_PACKAGES_PER_TEAM = 40
# More than this share of the sources needs debhelper and its like: an edge to everything says nothing.
MAX_USERS = 0.2
NUM_COLUMNS = 128


@dataclass(frozen=True)
class Source:
    """What the graph takes from one paragraph of a Sources file."""

    name: str
    team: str | None
    """Name of the mailing list or team address, or None for a person."""
    binaries: tuple[str, ...]
    needs: frozenset[str]
    """Binary packages needed for the build."""


def team_of(maintainer: str) -> str | None:
    """Return the team of a Maintainer field by the first part of its address, in one spelling; None for a person.

    Teams changed their lists' hosts and their display names over the years, rarely this part.
    """
    display, _, address = maintainer.rpartition("<")
    address = address.rstrip("> ").lower()
    if address.startswith(NO_TEAM) or not (TEAM.search(display) or TEAM.search(address)):
        return None
    local = address.partition("@")[0]
    return re.sub(r"^(team\+|pkg-|debian-)+|(-(maintainers|maint|team|devel|packaging|packagers|extras))+$", "", local)


def read_sources(text: str) -> list[Source]:
    """Read every source once, the last paragraph of a name, in the order of names."""
    found = {}
    for fields in paragraphs(text):
        found[fields["Package"]] = Source(
            name=fields["Package"],
            team=team_of(fields["Maintainer"]),
            binaries=tuple(names(fields["Binary"])),
            needs=frozenset(name for key in BUILD_RELATIONS for name in names(fields.get(key, ""))),
        )
    return [found[name] for name in sorted(found)]


def build_edges(sources: Sequence[Source]) -> NDArray[np.int64]:
    """Return (user, needed) pairs of sources, without needed ones that more than MAX_USERS of all use."""
    builder = {binary: node for node, source in enumerate(sources) for binary in source.binaries}
    pairs = {
        (node, builder[name])
        for node, source in enumerate(sources)
        for name in source.needs
        if builder.get(name, node) != node
    }
    users = Counter(needed for _, needed in pairs)
    kept = sorted(pair for pair in pairs if users[pair[1]] <= MAX_USERS * len(sources))
    return np.array(kept, np.int64).reshape(-1, 2)


def descriptions(translation: str) -> dict[str, str]:
    """Return the long description of each binary package in lower case."""
    return {fields["Package"]: fields["Description-en"].lower() for fields in paragraphs(translation)}


def words_of(source: Source, text_of: Mapping[str, str], team_words: frozenset[str]) -> list[str]:
    """Return the words of a source's descriptions; siblings repeat lines, so each line counts once."""
    lines = dict.fromkeys(line for name in source.binaries for line in text_of.get(name, "").splitlines())
    text = own_words_removed("\n".join(lines), source.name, *source.binaries)
    return [word for word in WORD.findall(text) if word not in team_words]


def words_of_teams(teams: Sequence[str]) -> frozenset[str]:
    """Return the words of the teams' names, which no text may tell."""
    return frozenset(word for team in teams for word in WORD.findall(team))


def build(cache: Path) -> StudyGraph:
    """Build the graph from apt's lists."""
    path = apt_list(cache, "*_main_source_Sources*")
    sources = read_sources(read_text(path))
    text_of = descriptions(read_text(apt_list(cache, "*_main_i18n_Translation-en*")))
    y, teams = classes([source.team for source in sources], MIN_PACKAGES_PER_TEAM)
    hidden = words_of_teams(teams)
    return StudyGraph(
        node_names=[source.name for source in sources],
        edges=build_edges(sources),
        x=features([words_of(source, text_of, hidden) for source in sources], NUM_COLUMNS),
        y=y,
        class_names=teams,
        groups=[source.name for source in sources],
        source={key: str(value) for key, value in release_of(path).items()},
    )


if __name__ == "__main__":
    command(NAME, build, __doc__)
