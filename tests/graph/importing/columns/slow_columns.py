"""Columns in plain Python, one cell at a time: the slow twin of columns/values.py and columns/encode.py."""

import math
import re
from collections import Counter
from datetime import UTC, datetime

from shadow_gnn.graph.importing.text import is_number

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


def is_missing(value):
    return value is None or value.strip().lower() in MISSING


def as_number(value):
    """Return a number; digits after a leading zero are a code."""
    text = value.strip()
    if re.fullmatch(r"[+-]?[$€£]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?%?", text):
        text = "".join(letter for letter in text if letter not in ",$€£%")
    digits = text.lstrip("+-")
    if not is_number(text) or (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()):
        return None
    return float(text)


def as_boolean(value):
    return {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}.get(value.strip().lower())


def as_seconds(value):
    text = value.strip()
    if len(text) < 10 or text[4] != "-" or text[7] != "-":
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


READERS = {"number": as_number, "boolean": as_boolean, "date": as_seconds}


def slow_values(cells, kind):
    """Return the values with None where one is missing, and the first row that does not fit."""
    values = []
    for row, cell in enumerate(cells):
        found = None if is_missing(cell) else READERS[kind](cell)
        if found is None and not is_missing(cell):
            return None, row
        values.append(found)
    return values, None


def slow_encode(cells, plan):
    """Return the encoded rows of a number, boolean, date or category."""
    rows = []
    for cell in cells:
        missing = is_missing(cell)
        if plan.kind == "category":
            text = None if missing else cell.strip()
            seen = text in plan.categories
            unseen = float(not seen and not (missing and plan.missing))
            if plan.encoding == "one-hot":
                row = [*(float(text == value) for value in plan.categories), unseen]
            else:
                row = [float(plan.categories.index(text)) if seen else 0.0, unseen]
        else:
            found = None if missing else READERS[plan.kind](cell)
            row = [plan.fill if missing else found - (plan.origin or 0.0)]
            when = None if missing or plan.kind != "date" else datetime.fromtimestamp(math.floor(found), UTC)
            for part in plan.parts:
                row.append(0.0 if when is None else when.weekday() if part == "weekday" else getattr(when, part))
        rows.append([*row, float(missing)] if plan.missing else row)
    return rows


def slow_words(text):
    """Return the words of a text with their counts."""
    joined = "".join(letter if letter.isalpha() or letter.isdigit() else " " for letter in (text or "").lower())
    return Counter(joined.split())
