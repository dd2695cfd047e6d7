"""Options: the fields of an extractor's dataclass with default, range and help text, and their checks.

Not for: the options of one extractor (kinds/). Recipes, cache keys, help and docs read options from here.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from dataclasses import Field, dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Protocol, Union, get_args, get_origin, get_type_hints

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from typing_extensions import Doc

NO_CAP = 2**31 - 1
MOST_NODES = 100_000_000
"""Most nodes that an option may ask for."""
_BOUNDS = {Ge: ("at least", "ge"), Gt: ("above", "gt"), Le: ("at most", "le"), Lt: ("below", "lt")}
_TYPES: dict[type, tuple[tuple[type, ...], str]] = {
    int: ((int, np.integer), "an integer"),
    float: ((int, float, np.integer, np.floating), "a number"),
    bool: ((bool, np.bool_), "True or False"),
    str: ((str,), "text"),
}


@dataclass(frozen=True)
class NotInRecipe:
    """Marks an option that the program sets, not a recipe."""


@dataclass(frozen=True)
class NamesPath:
    """Marks an option that names a folder or a file; a recipe holds it as text."""


Count = Annotated[int, Ge(1), Le(MOST_NODES)]
Positive = Annotated[float, Gt(0)]
Topk = Annotated[
    int, Ge(1), Le(MOST_NODES), Doc("Most nodes of a scope, the target included; as many for each end of a pair.")
]
MaxNodes = Annotated[Count | None, Doc("Hard cap on the nodes of a scope; nodes found first stay.")]
NumHops = Annotated[int, Ge(0), Le(1_000_000), Doc("Radius of the scope.")]
# Below a thousandth, a walk would make more than a thousand steps on average.
Teleport = Annotated[float, Ge(0.001), Lt(1), Doc("Restart probability of the walk; smaller reaches further.")]
# Less than this is rounding: mass that is followed further never ends.
Tolerance = Annotated[float, Ge(1e-15)]
Resample = Annotated[bool, Doc("Draw other walks in each epoch of training; otherwise a target keeps its scope.")]
DEFAULT_TELEPORT = 0.2609
"""The ordinary walk's equivalent of the authors' lazy walk at 0.15: 2b / (1 + b)."""


@dataclass(frozen=True)
class Option:
    """One option of an extractor."""

    name: str
    """Its field."""
    annotation: Any
    """Type of the field, with bounds as annotated_types has them."""
    default: Any
    """Its default; dataclasses.MISSING if it must be set."""
    text: str
    """One line of explanation, from the docstring under the field or from the annotation."""
    base: type | None
    """int, float, bool, str, or None for other types, which the class checks itself."""
    optional: bool
    """Whether None is allowed."""
    choices: tuple[str, ...]
    """Values of a Literal."""
    bounds: tuple[Any, ...]
    """Ge, Gt, Le and Lt."""
    in_recipe: bool
    """Whether recipes have it as a key."""
    names_path: bool
    """Whether it names a folder or a file."""

    def check(self, owner: str, value: Any) -> None:
        """Raise a TypeError or ValueError unless a value is of the type and within the bounds."""
        if self.base is None or (value is None and self.optional):
            return
        types, word = _TYPES[self.base]
        known: bool = isinstance(value, types)  # Outside the condition, where mypy would narrow the type.
        if not known or (isinstance(value, bool) and self.base is not bool):
            raise TypeError(f"{owner}: {self.name} must be {word}, got {value!r}")
        if self.choices and value not in self.choices:
            raise ValueError(f"{owner}: {self.name} must be one of {', '.join(self.choices)}, got {value!r}")
        if self.base is float and not math.isfinite(value):
            raise ValueError(f"{owner}: {self.name} must be a finite number, got {value}")
        for bound in self.bounds:
            word, sign = _BOUNDS[type(bound)]
            limit = getattr(bound, sign)
            within = {"ge": value >= limit, "gt": value > limit, "le": value <= limit, "lt": value < limit}[sign]
            if not within:
                raise ValueError(f"{owner}: {self.name} must be {word} {limit}, got {value}")


class Optioned(Protocol):
    """Anything whose options are the fields of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@cache
def options_of(owner: type[Optioned]) -> tuple[Option, ...]:
    """Return the options of a dataclass: its own first, then the shared ones."""
    hints, texts = get_type_hints(owner, include_extras=True), _docstrings(owner)
    ordered = sorted(fields(owner), key=lambda field: bool(field.kw_only))
    return tuple(_option(field, hints[field.name], texts.get(field.name)) for field in ordered if field.init)


def check_options(extractor: Optioned) -> None:
    """Raise unless every option of an extractor is of its type and within its bounds."""
    for option in options_of(type(extractor)):
        option.check(type(extractor).__name__, getattr(extractor, option.name))


def check_int(owner: str, name: str, value: int, least: int, most: int = NO_CAP) -> None:
    """Raise unless `value` is an integer from least to most."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{owner}: {name} must be an integer, got {value!r}")
    if not least <= value <= most:
        bounds = f"at least {least}" if most == NO_CAP else f"from {least} to {most}"
        raise ValueError(f"{owner}: {name} must be {bounds}, got {value}")


def _option(field: Field[Any], annotation: Any, text: str | None) -> Option:
    base, optional, choices, metadata = _parsed(annotation)
    said = text or next((item.documentation for item in metadata if isinstance(item, Doc)), "")
    return Option(
        field.name,
        annotation,
        field.default,
        " ".join(said.split()),
        base,
        optional,
        choices,
        tuple(item for item in metadata if type(item) in _BOUNDS),
        in_recipe=not any(isinstance(item, NotInRecipe) for item in metadata),
        names_path=any(isinstance(item, NamesPath) for item in metadata),
    )


def _parsed(annotation: Any) -> tuple[type | None, bool, tuple[str, ...], tuple[Any, ...]]:
    """Return base type, whether None is allowed, choices and metadata of an annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        base, optional, choices, metadata = _parsed(arguments[0])
        return base, optional, choices, (*metadata, *arguments[1:])
    if origin in (Union, UnionType):
        others = [each for each in arguments if each is not NoneType]
        base, _, choices, metadata = _parsed(others[0]) if len(others) == 1 else (None, False, (), ())
        return base, NoneType in arguments, choices, metadata
    if origin is Literal:
        return str, False, arguments, ()
    return (annotation if annotation in _TYPES else None), False, (), ()


def _docstrings(owner: type) -> dict[str, str]:
    """Return the docstring under each field of a class and its bases; empty without source code."""
    found: dict[str, str] = {}
    for each in reversed(owner.__mro__[:-1]):
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        except (OSError, TypeError, SyntaxError):
            continue
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                found[field.target.id] = ast.literal_eval(text.value)
    return found
