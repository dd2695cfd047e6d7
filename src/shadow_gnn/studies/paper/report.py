"""Report: a finding as a Markdown page, a CSV file for each table and a PNG file.

Not for: its content (a file for each experiment).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from shadow_gnn.base.files import write_file
from shadow_gnn.studies.paper.experiment import Cell, Finding, Spread, Table


def write_finding(finding: Finding, name: str, folder: Path) -> list[Path]:
    """Write <name>.md, a CSV file for each table and <name>.png; return the files, the page first."""
    files = [folder / f"{name}.md"]
    for table in finding.tables:
        files.append(folder / f"{table.name}.csv")
        write_file(files[-1], csv_text(table).encode())
    figure = None
    if finding.draw is not None:
        figure = folder / f"{name}.png"
        finding.draw(figure)
        files.append(figure)
    # The page last: all files that it names exist.
    write_file(files[0], markdown(finding, figure.name if figure else None).encode())
    return files


def markdown(finding: Finding, figure: str | None = None) -> str:
    """Return the page of a finding; figure: name of its PNG file in the same folder."""
    parts = [f"# {finding.title}", finding.text.strip()]
    if figure is not None:
        parts.append(f"![{finding.title}]({figure})")
    for table in finding.tables:
        parts += [f"{table.caption} ([CSV]({table.name}.csv))", markdown_table(table)]
    if finding.notes:
        parts.append("\n".join(f"- {note}" for note in finding.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_table(table: Table) -> str:
    """Return a table as Markdown, with numbers aligned to the right."""
    right = [_is_numeric(column) for column in _columns(table)]
    lines = [table.columns, ["---:" if number else "---" for number in right]]
    lines += [[_shown(cell) for cell in row] for row in table.rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def csv_text(table: Table) -> str:
    """Return a table as CSV with all digits; a column of deviations follows each column of means."""
    columns = _columns(table)
    spread = [any(isinstance(cell, Spread) for cell in column) for column in columns]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    heads: list[str] = []
    for head, two in zip(table.columns, spread, strict=True):
        heads += [head, f"{head} deviation"] if two else [head]
    writer.writerow(heads)
    for row in table.rows:
        values: list[Cell] = []
        for cell, two in zip(row, spread, strict=True):
            if isinstance(cell, Spread):
                values += [cell.mean, cell.deviation]
            else:
                values += [cell, None] if two else [cell]
        writer.writerow(values)
    return buffer.getvalue()


def _columns(table: Table) -> list[tuple[Cell, ...]]:
    for row in table.rows:
        if len(row) != len(table.columns):
            raise ValueError(f"{table.name}: a row must have {len(table.columns)} cells, got {len(row)}")
    return list(zip(*table.rows, strict=True)) if table.rows else [() for _ in table.columns]


def _is_numeric(column: Sequence[Cell]) -> bool:
    values = [cell for cell in column if cell is not None]
    return bool(values) and not any(isinstance(cell, str) for cell in values)


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return " ".join(cell.split()).replace("|", "\\|")
    if isinstance(cell, Spread):
        return f"{cell.mean:.4f}" + ("" if cell.deviation is None else f" ± {cell.deviation:.4f}")
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
