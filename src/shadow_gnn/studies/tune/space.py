"""Search space: keys of a recipe and their values; that of the paper, or from a file.

Not for: choosing values (study.py).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.base.files import open_regular
from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.record import toml_value

Label = bool | int | float | str
"""A value in Optuna's storage: itself, or the TOML text of a list or table."""
ReadRecipe = Callable[[Sequence[str]], Recipe]
"""Reads the recipe of a study with overrides."""

MAX_BYTES = 1 << 20
MAX_ENUMERATED = 100_000
FIXED_KEYS = ("graph", "seed", "task", "link", "logging", "training.monitor")
"""Keys and tables that a validation metric cannot choose."""

_RANGE_KEYS = ("low", "high", "step", "log")
_DIGITS = 12


@dataclass(frozen=True)
class Choices:
    """A list of values."""

    values: tuple[Any, ...]
    """Scalars or lists; or tables that each set several keys."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The values in Optuna's storage."""
        return tuple(value if isinstance(value, (bool, int, float, str)) else _text(value) for value in self.values)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    def value(self, label: Label) -> Any:
        """Return the value of a label."""
        return self.values[self.labels.index(label)]

    @property
    def extremes(self) -> tuple[Any, ...]:
        """Values to validate; all values are valid if these are."""
        return self.values


@dataclass(frozen=True)
class Range:
    """All numbers from low to high, both included."""

    low: float
    """Smallest value; an integer for a range of integers."""
    high: float
    """Largest value."""
    step: float | None = None
    """Distance of adjacent values; None for any number, or for 1 between integers."""
    log: bool = False
    """Whether to search on a log scale."""

    @property
    def integer(self) -> bool:
        """Whether the range is of integers."""
        return all(isinstance(value, int) for value in (self.low, self.high, self.step or 1))

    @property
    def size(self) -> int | None:
        """Number of values; None for continuous ones."""
        step = self.step or (1 if self.integer else None)
        return None if step is None else 1 + math.floor((self.high - self.low) / step + 1e-9)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The values in Optuna's storage; empty for continuous ones."""
        step = self.step or 1
        return tuple(self.value(self.low + number * step) for number in range(self.size or 0))

    def value(self, label: Label) -> Any:
        """Return the number of a label, rounded to drop the errors of steps such as 0.05."""
        return int(label) if self.integer else round(float(label), _DIGITS)

    @property
    def extremes(self) -> tuple[Any, ...]:
        """Values to validate; all values are valid if these are."""
        return (self.low, self.high)


Values = Mapping[str, Label]
"""One value for each key of a space, by label."""


@dataclass(frozen=True)
class Space:
    """The keys of a search with their values."""

    keys: Mapping[str, Choices | Range]
    """By name, such as model.dropout; the name of a table if several of its keys change together."""

    @property
    def size(self) -> int | None:
        """Number of combinations; None with continuous values."""
        sizes = [values.size for values in self.keys.values()]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    def combinations(self) -> Iterator[dict[str, Label]]:
        """Give every combination of discrete values."""
        for labels in product(*(values.labels for values in self.keys.values())):
            yield dict(zip(self.keys, labels, strict=True))

    def overrides(self, values: Values) -> list[str]:
        """Return the overrides for some values, such as model.dropout=0.5."""
        return [line for key, label in values.items() for line in _overrides(key, self.keys[key].value(label))]

    def to_json(self) -> dict[str, Any]:
        """Return the space in types that JSON supports."""
        return {key: _plain(values) for key, values in self.keys.items()}

    def to_toml(self) -> str:
        """Return the space as the text of a file for read_space."""
        return "".join(f"{key} = {_text(_plain(values))}\n" for key, values in self.keys.items())


def paper_space(recipe: Recipe) -> Space:
    """Return the paper's search space for a recipe: its grid and the values in its tables of settings.

    Depth, width, layer and readout stay unchanged: the paper compares them and does not tune them.
    """
    keys: dict[str, Choices | Range] = {}
    if recipe.model.layer != "sgc":
        keys["model.activation"] = Choices(("relu", "elu", "prelu"))
    keys["model.dropout"] = Range(0.0, 0.5, 0.05)
    keys["model.dropedge"] = Range(0.0, 0.5, 0.05)
    keys["training.learning_rate"] = Choices((0.01, 0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.00005, 0.00002))
    if recipe.training.method in ("shadow", "joint", "neighbor"):
        keys["training.batch_size"] = Choices((16, 32, 64, 128, 256))
    if recipe.branches:
        places = [(f"branches.{number}.extractor", branch.extractor) for number, branch in enumerate(recipe.branches)]
    else:
        places = [("extractor", recipe.extractor)]
    for name, extractor in places:
        if isinstance(extractor, PprExtractor):
            keys[name] = Choices(tuple({"topk": topk, "threshold": share} for topk, share in _PPR))
        elif isinstance(extractor, KhopExtractor):
            keys[f"{name}.fanout"] = Choices((5, 10, 15, 20))
    return Space(keys)


# Budgets, thresholds with an upper bound, and the pairs of the leaderboard table.
_PPR = (
    (100, 0.0),
    (150, 0.0),
    (175, 0.0),
    (200, 0.0),
    (200, 0.01),
    (500, 0.01),
    (200, 0.05),
    (500, 0.05),
    (200, 0.002),
    (400, 0.002),
)


def read_space(path: Path, read: ReadRecipe) -> Space:
    """Read a space from a TOML file and check every value in the recipe; a RecipeError lists all faults."""
    try:
        with open_regular(path) as handle:
            raw = handle.read(MAX_BYTES + 1)
    except OSError as error:
        raise RecipeError([f"{path}: cannot be read: {error.strerror or error}"]) from error
    if len(raw) > MAX_BYTES:
        raise RecipeError([f"{path}: must have at most {MAX_BYTES} bytes"])
    try:
        table = tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError([f"{path}: is not TOML: {error}"]) from error
    return make_space(table, path.name, read)


def make_space(table: Mapping[str, Any], source: str, read: ReadRecipe) -> Space:
    """Make a space from a table of keys; source: name at the start of each fault."""
    keys: dict[str, Choices | Range] = {}
    faults: list[str] = []
    for key, given in _leaves(table):
        found, wrong = _parse(given)
        if key in FIXED_KEYS or key.startswith(tuple(f"{fixed}." for fixed in FIXED_KEYS)):
            wrong = ["must not be searched: validation cannot choose between its values"]
        elif found is not None:
            wrong = _faults_in_recipe(key, found, read)
            keys[key] = found
        faults += [f"{source}: {key}: {text}" for text in wrong]
    faults += [f"{source}: {text}" for text in _faults_between(keys)]
    if not table:
        faults.append(f"{source}: must have at least one key, such as model.dropout = [0.1, 0.2]")
    if faults:
        raise RecipeError(faults)
    return Space(keys)


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Give every key with its value: a table with low or high is a range, any other contains keys."""
    for name, given in table.items():
        key = f"{above}.{name}" if above else name
        if isinstance(given, dict) and given and not {"low", "high"} & set(given):
            yield from _leaves(given, key)
        else:
            yield key, given


def _parse(given: Any) -> tuple[Choices | Range | None, list[str]]:
    """Return the values, or the fault in them."""
    if isinstance(given, dict) and given:
        return _parse_range(given)
    if not isinstance(given, list):
        return None, [f"must be a list of values or a table with low and high, got {_shown(given)}"]
    if not given:
        return None, ["must have at least one value, got an empty list"]
    if len({isinstance(value, dict) for value in given}) > 1 or any(value == {} for value in given):
        return None, ["must be a list of values, or a list of tables that each set a key, got both"]
    choices = Choices(tuple(given))
    if len({(type(label), label) for label in choices.labels}) < len(given):
        return None, ["must have different values, got one twice"]
    return choices, []


def _parse_range(given: Mapping[str, Any]) -> tuple[Range | None, list[str]]:
    faults = []
    for name in given:
        if name not in _RANGE_KEYS:
            near = get_close_matches(name, _RANGE_KEYS, 1)
            faults.append(f"{name}: unknown key" + (f"; did you mean {near[0]}?" if near else ""))
    numbers = {name: given.get(name) for name in ("low", "high", "step")}
    for name, value in numbers.items():
        missing = value is None and name != "step"
        if missing or (value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)))):
            faults.append(f"{name}: " + ("must be set" if missing else f"must be a number, got {_shown(value)}"))
    if not isinstance(given.get("log", False), bool):
        faults.append(f"log: must be true or false, got {_shown(given['log'])}")
    if faults:
        return None, faults
    low, high, step = numbers["low"], numbers["high"], numbers["step"]
    found = Range(low, high, step, given.get("log", False))  # type: ignore[arg-type]
    if not math.isfinite(found.low) or not math.isfinite(found.high) or found.low >= found.high:
        faults.append(f"low must be below high, got {found.low} and {found.high}")
    if found.step is not None and not 0 < found.step <= found.high - found.low:
        faults.append(f"step must be above 0 and at most high - low, got {found.step}")
    if found.log and (found.low <= 0 or found.step is not None):
        faults.append("log must go with low above 0 and without step")
    return (None if faults else found), faults


def _faults_in_recipe(key: str, values: Choices | Range, read: ReadRecipe) -> list[str]:
    """Return the distinct faults of a recipe with the values of a key."""
    faults: dict[str, None] = {}
    for value in values.extremes:
        overrides = _overrides(key, value)
        try:
            read(overrides)
        except RecipeError as error:
            faults |= dict.fromkeys(_without_owner(fault, key, overrides) for fault in error.faults)
    return list(faults)


def _without_owner(fault: str, key: str, overrides: Sequence[str]) -> str:
    """Remove "--set: model.dropout:" or "recipe.toml:" from a fault of a recipe."""
    for override in overrides:
        fault = fault.removeprefix(f"--set {override}: ")
    owner, _, text = fault.partition(": ")
    fault = text if owner == "--set" or owner.endswith(".toml") else fault
    return fault.removeprefix(f"{key}: ").removeprefix(f"{key}.")


def _faults_between(keys: Mapping[str, Choices | Range]) -> Iterator[str]:
    """Give a fault for each key that two entries set, one of them through a list of tables."""
    owner: dict[str, str] = {}
    for name, values in keys.items():
        set_here = {name}
        if isinstance(values, Choices) and isinstance(values.values[0], dict):
            set_here = {f"{name}.{key}" for value in values.values for key in value}
        for key in sorted(set_here):
            if key in owner:
                yield f"{key}: must be searched in one place, got {owner[key]} and {name}"
            owner[key] = name


def _overrides(key: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{key}.{name}={_text(inner)}" for name, inner in value.items()]
    return [f"{key}={_text(value)}"]


def _plain(values: Choices | Range) -> Any:
    if isinstance(values, Choices):
        return list(values.values)
    found = {"low": values.low, "high": values.high}
    return found | ({"step": values.step} if values.step is not None else {}) | ({"log": True} if values.log else {})


def _text(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_text(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return toml_value(value) if isinstance(value, (str, int, float, bool)) else str(value)


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= 60 else text[:57] + "..."
