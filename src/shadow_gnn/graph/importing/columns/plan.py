"""Plan: how the columns of a node table and an edge table are read, as a record that TOML can hold.

Not for: finding out what a column holds (recognize.py) or encoding its rows (encode.py).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shadow_gnn.base.errors import SourceError

ColumnKind = Literal["number", "boolean", "category", "date", "list", "text", "ignore"]
DatePart = Literal["day", "month", "weekday"]
Finite = Annotated[float, Field(allow_inf_nan=False)]

_LONG_KEYS = ("words", "numbers")
_HEAD = """\
# How the columns of the tables are read and encoded. Change it and give it again with --plan.
# A key that is left out is fitted to the rows; kind = "ignore" leaves a column out.
"""


class ColumnPlan(BaseModel):
    """How one column is encoded: its kind, and the values found in the rows it was fitted on.

    A value of None is fitted to the rows of the import (fit.py).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: ColumnKind
    """Meaning of the values; ignore leaves the column out."""
    encoding: Literal["one-hot", "index"] | None = None
    """Encoding of a category: a column for each value, or one column with the position of the value."""
    categories: tuple[str, ...] | None = None
    """Values of a category, ascending; every other value is unseen."""
    fill: Finite | None = None
    """Number that stands for a missing value: the mean of the others."""
    missing: bool | None = None
    """Whether an indicator column says which values are missing."""
    length: Annotated[int, Field(ge=0, le=1 << 16)] | None = None
    """Values of each list."""
    origin: Annotated[Finite, Field(ge=-62_135_596_800, lt=253_402_300_800)] | None = None
    """The date from which seconds count, in seconds since 1970: of the years 1 to 9999."""
    format: str | None = None
    """Form of dates that are not ISO 8601, such as %d.%m.%Y."""
    parts: tuple[DatePart, ...] = ()
    """Further columns of a date: day (1 to 31), month (1 to 12), weekday (0 for Monday)."""
    columns: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Columns of a text."""
    words: str | None = None
    """Vocabulary of a text, packed (texts.py)."""
    numbers: str | None = None
    """Weights of the words and their components, packed."""

    def column_names(self, name: str) -> tuple[str, ...]:
        """Return the names of the encoded columns."""
        if self.kind == "ignore":
            return ()
        if self.kind == "category" and self.encoding == "one-hot":
            found = [*(f"{name}={value}" for value in self.categories or ()), f"{name} is unseen"]
        elif self.kind == "category":
            found = [name, f"{name} is unseen"]
        elif self.kind in ("list", "text"):
            found = [
                f"{name} {number}" for number in range((self.length if self.kind == "list" else self.columns) or 0)
            ]
        else:
            found = [name, *(f"{name} {part}" for part in self.parts)]
        return (*found, f"{name} is missing") if self.missing else tuple(found)

    def encoding_text(self) -> str:
        """Describe the encoding in a few words."""
        count = len(self.column_names("x"))
        columns = "1 column" if count == 1 else f"{count:,} columns"
        if self.kind == "category":
            return f"{self.encoding}, {columns}"
        if self.kind == "date":
            return f"seconds since {datetime.fromtimestamp(self.origin or 0, UTC):%Y-%m-%d}, {columns}"
        return f"TF-IDF and SVD, {columns}" if self.kind == "text" else columns if count else "left out"

    def difference(self, other: ColumnPlan) -> str | None:
        """Return the first key by which another plan encodes equal values otherwise; None if it does not.

        The number for missing values may differ: it is a statistic of the rows, not a meaning of the column.
        """
        keys = ("kind", "encoding", "categories", "length", "origin", "format", "parts", "columns", *_LONG_KEYS)
        return next((key for key in keys if getattr(self, key) != getattr(other, key)), None)


class Roles(BaseModel):
    """Columns with a meaning of their own, by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = None
    """Ids of the nodes."""
    label: str | None = None
    """Labels of the nodes."""
    label_separator: str | None = None
    """Text between several labels of a node."""
    label_kind: Literal["auto", "class", "multi", "value"] = "auto"
    """Meaning of the labels."""
    split: str | None = None
    """Split of each node."""
    group: str | None = None
    """Group of each node; a group is never divided among splits."""
    src: str | None = None
    """Sending node of an edge."""
    dst: str | None = None
    """Receiving node of an edge."""
    weight: str | None = None
    """Weight of an edge."""


class ImportPlan(BaseModel):
    """The content of import.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: Roles = Roles()
    """Columns of ids, labels, splits and weights."""
    nodes: dict[str, ColumnPlan] = {}
    """Feature columns of the node table."""
    edges: dict[str, ColumnPlan] = {}
    """Feature columns of the edge table."""


def dump_plan(plan: ImportPlan) -> str:
    """Return the text of import.toml: one table for each column, packed numbers last."""
    lines = [_HEAD]
    roles = plan.roles.model_dump(mode="json", exclude_defaults=True)
    if roles:
        lines += ["[roles]", *(f"{key} = {_quoted(value)}" for key, value in roles.items()), ""]
    for part in ("nodes", "edges"):
        for name, column in getattr(plan, part).items():
            lines.append(f"[{part}.{_quoted(name)}]")
            content = column.model_dump(mode="json", exclude_defaults=True)
            # Packed text has no quotes, and a literal string is read fast.
            lines += [f"{key} = {_quoted(value)}" for key, value in content.items() if key not in _LONG_KEYS]
            lines += [f"{key} = '{content[key]}'" for key in _LONG_KEYS if key in content]
            lines.append("")
    return "\n".join(lines)


def _quoted(value: object) -> str:
    """Return a value as TOML, which reads JSON apart from the character DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_plan(text: str, owner: str) -> ImportPlan:
    """Read the text of an import.toml; a fault is a SourceError that names the owner and the key."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SourceError(f"{owner}: is not TOML: {error}") from error
    try:
        return ImportPlan.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SourceError(f"{owner}: {where}: {first['msg']}") from error


def all_names(plans: Mapping[str, ColumnPlan], owner: str) -> Sequence[str]:
    """Return the names of all encoded columns; two equal ones are a SourceError."""
    names = [encoded for name, plan in plans.items() for encoded in plan.column_names(name)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SourceError(f"{owner}: encoded columns must have different names, {name!r} appears twice")
        seen.add(name)
    return names


def edge_names(import_toml: str | None) -> tuple[str, ...] | None:
    """Return the names of the encoded columns of the edges of a graph; None if its record names none."""
    if import_toml is None:
        return None
    return tuple(all_names(read_plan(import_toml, "import.toml").edges, "import.toml")) or None


def changed(plan: ColumnPlan, **values: Any) -> ColumnPlan:
    """Return a plan with other values."""
    return plan.model_copy(update=values)
