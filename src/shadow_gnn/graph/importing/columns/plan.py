"""Plan: how one column of a table is encoded, as a record that TOML can hold.

Not for: finding out what a column holds (recognize.py) or encoding its rows (encode.py).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shadow_gnn.base.errors import SourceError

ColumnKind = Literal["number", "boolean", "category", "date", "list", "ignore"]


class ColumnPlan(BaseModel):
    """How one column is encoded: its kind, and the values found in the rows it was fitted on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: ColumnKind
    """Meaning of the values; ignore leaves the column out."""
    encoding: Literal["one-hot", "index"] = "one-hot"
    """Encoding of a category: a column for each value, or one column with the position of the value."""
    categories: tuple[str, ...] = ()
    """Values of a category, ascending; every other value is unseen."""
    fill: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    """Number that stands for a missing value: the mean of the others."""
    missing: bool = False
    """Whether an indicator column says which values are missing."""
    length: Annotated[int, Field(ge=0, le=1 << 16)] = 0
    """Values of each list."""
    origin: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    """The date from which seconds count, in seconds since 1970."""

    def column_names(self, name: str) -> tuple[str, ...]:
        """Return the names of the encoded columns."""
        if self.kind == "ignore":
            return ()
        if self.kind == "category" and self.encoding == "one-hot":
            found = [*(f"{name}={value}" for value in self.categories), f"{name} is unseen"]
        elif self.kind == "category":
            found = [name, f"{name} is unseen"]
        elif self.kind == "list":
            found = [f"{name} {number}" for number in range(self.length)]
        else:
            found = [name]
        return (*found, f"{name} is missing") if self.missing else tuple(found)


def dump_plans(plans: Mapping[str, ColumnPlan]) -> str:
    """Return the text of import.toml: one table for each column."""
    lines = ["# How the columns of the node table were recognized. Edit it and give it again with --columns.", ""]
    for name, plan in plans.items():
        lines.append(f"[nodes.{_quoted(name)}]")
        for key, value in plan.model_dump(mode="json", exclude_defaults=True).items():
            lines.append(f"{key} = {_quoted(value)}")
        lines.append("")
    return "\n".join(lines)


def _quoted(value: object) -> str:
    """Return a value as TOML, which reads JSON apart from the character DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_plans(text: str, owner: str) -> dict[str, ColumnPlan]:
    """Read the text of an import.toml; a fault is a SourceError that names the owner and the key."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SourceError(f"{owner}: is not TOML: {error}") from error
    nodes = content.pop("nodes", {})
    if content or not isinstance(nodes, dict):
        raise SourceError(f"{owner}: must hold tables [nodes.COLUMN] only, got {next(iter(content), 'nodes')!r}")
    found = {}
    for name, table in nodes.items():
        try:
            found[name] = ColumnPlan.model_validate(table)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(("nodes", name, *(str(part) for part in first["loc"])))
            raise SourceError(f"{owner}: {where}: {first['msg']}") from error
    return found


def all_names(plans: Mapping[str, ColumnPlan], owner: str) -> Sequence[str]:
    """Return the names of all encoded columns; two equal ones are a SourceError."""
    names = [encoded for name, plan in plans.items() for encoded in plan.column_names(name)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SourceError(f"{owner}: encoded columns must have different names, {name!r} appears twice")
        seen.add(name)
    return names
