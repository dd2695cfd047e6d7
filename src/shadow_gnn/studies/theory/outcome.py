"""Outcome: measurements and bounds for one statement, and its figure.

Not for: measuring (one file per statement) or drawing (plots.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

Relation = Literal["at most", "at least", "exactly"]
Points = Sequence[float] | NDArray[Any]


@dataclass(frozen=True)
class Check:
    """One number and its bound."""

    statement: str
    """The claim in plain words."""
    measured: float
    """The number; NaN never holds."""
    relation: Relation
    """Required relation of the number to the bound."""
    bound: float
    """The stated tolerance, or the value from theory."""

    @property
    def holds(self) -> bool:
        """Whether the number satisfies the bound."""
        if self.relation == "exactly":
            return self.measured == self.bound
        return self.measured <= self.bound if self.relation == "at most" else self.measured >= self.bound


def at_most(statement: str, measured: float, bound: float) -> Check:
    """Check that a number is at most its bound."""
    return Check(statement, float(measured), "at most", bound)


def at_least(statement: str, measured: float, bound: float) -> Check:
    """Check that a number is at least its bound."""
    return Check(statement, float(measured), "at least", bound)


def exactly(statement: str, measured: float, bound: float) -> Check:
    """Check that a number equals its bound."""
    return Check(statement, float(measured), "exactly", bound)


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a diagram."""

    label: str
    """Name in the legend."""
    x: Points
    """Positions."""
    y: Points
    """Values, one for each position."""
    dashed: bool = False
    """True for values from theory."""


@dataclass(frozen=True)
class Curves:
    """A diagram of lines over one axis."""

    title: str
    """Heading."""
    x_label: str
    """Label of the horizontal axis."""
    y_label: str
    """Label of the vertical axis."""
    lines: tuple[Line, ...]
    """Drawn in this order."""
    log: bool = False
    """Whether values are on a log scale."""


@dataclass(frozen=True)
class Drawing:
    """A graph with the color of every node, in the layout of the paper."""

    title: str
    """Heading."""
    position: tuple[tuple[float, float], ...]
    """Position of each node."""
    edges: tuple[tuple[int, int], ...]
    """Pairs of nodes."""
    color: tuple[int, ...]
    """Color number of each node."""
    marked: tuple[tuple[int, str], ...] = ()
    """(Node, letter) of marked nodes."""


@dataclass(frozen=True)
class Gallery:
    """Several graph drawings side by side."""

    title: str
    """Heading of the figure."""
    drawings: tuple[Drawing, ...]
    """From left to right, two in a row."""


Picture = Curves | Gallery


@dataclass(frozen=True)
class Outcome:
    """The result of the check of one statement."""

    name: str
    """Name for `shadow theory`."""
    title: str
    """The statement in one line."""
    paper: str
    """Place in the paper."""
    checks: tuple[Check, ...]
    """At least one."""
    picture: Picture | None = None
    """The figure; None if there is none."""

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)
