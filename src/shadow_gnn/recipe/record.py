"""Record: a strict, frozen table of a recipe, and values as TOML writes them.

Not for: any one table; each has its own file.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, lt=1)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Record(BaseModel):
    """A strict, frozen table of a recipe: unknown keys and values of another type are faults."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


def toml_value(value: Any) -> str:
    """Write a scalar, a table or a list of them as a TOML value."""
    if isinstance(value, Record):
        return toml_value(value.model_dump(exclude_none=True))
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {toml_value(item)}' for name, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are valid in TOML, except for one control character that JSON does not escape.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
