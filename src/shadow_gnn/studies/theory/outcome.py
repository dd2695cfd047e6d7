"""Outcome: measurements and bounds of the check of one statement, and its figure.

Not for: measuring (one file per statement) or drawing (plots.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Relation = Literal["at most", "at least", "exactly"]


@dataclass(frozen=True)
class Check:
    """One number and its bound."""

    statement: str
    """The claim in plain words."""
    measured: float
    """The number; one that is not finite holds nothing."""
    relation: Relation
    """How the number must stand to the bound."""
    bound: float
    """The stated tolerance, or the value that theory gives."""

    @property
    def holds(self) -> bool:
        """Whether the number keeps the bound."""
        if self.relation == "exactly":
            return self.measured == self.bound
        return self.measured <= self.bound if self.relation == "at most" else self.measured >= self.bound


@dataclass(frozen=True)
class Line:
    """One line of a diagram."""

    label: str
    """Name in the legend."""
    x: tuple[float, ...]
    """Places, as many as values."""
    y: tuple[float, ...]
    """Values."""
    dashed: bool = False
    """For values of theory, next to measured ones."""


@dataclass(frozen=True)
class Curves:
    """A diagram of lines over one axis."""

    title: str
    """Above it."""
    x_label: str
    """Below it."""
    y_label: str
    """Beside it."""
    lines: tuple[Line, ...]
    """Drawn in this order."""
    log: bool = False
    """Whether values are on a log scale."""


@dataclass(frozen=True)
class Drawing:
    """One graph with the color of every node, drawn as it is in the paper."""

    title: str
    """Above it."""
    position: tuple[tuple[float, float], ...]
    """Where each node is."""
    edges: tuple[tuple[int, int], ...]
    """Pairs of nodes."""
    color: tuple[int, ...]
    """Nodes of one number get one color."""
    marked: tuple[tuple[int, str], ...] = ()
    """Nodes that are marked with a letter."""


@dataclass(frozen=True)
class Gallery:
    """Several drawn graphs side by side."""

    title: str
    """Above all."""
    drawings: tuple[Drawing, ...]
    """From left to right, two in a row."""


Picture = Curves | Gallery


@dataclass(frozen=True)
class Outcome:
    """The result of the check of one statement."""

    name: str
    """What `shadow theory` calls it."""
    title: str
    """The statement in one line."""
    paper: str
    """Where it is in the paper."""
    checks: tuple[Check, ...]
    """At least one."""
    picture: Picture | None = None
    """The figure; None if there is none."""

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(check.holds for check in self.checks)
