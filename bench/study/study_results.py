"""Results: one record for each finished job, with the correctness of every prediction as bits.

Not for: what the results mean (study_findings.py).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from study_jobs import Job, job_of

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import checksum_of, read_bytes, write_file

FORMAT, VERSION, MAX_BYTES = "shadow-study", 1, 1 << 28


@dataclass(frozen=True)
class Result:
    """Outcome of one job."""

    name: str
    """Name of the job."""
    settings: Mapping[str, Any]
    """Values of the search."""
    graph: str
    """Fingerprint of the graph and hash of its features, labels and splits."""
    fault: str = ""
    """Reason of a failure; empty for a finished run."""
    valid: float = 0.0
    """Accuracy on all validation targets, of the epoch that is best there."""
    test: float = 0.0
    """Accuracy of the same epoch on all test targets."""
    cpu_seconds: float = 0.0
    """CPU seconds of training: extraction, batches and steps, without validation."""
    best_epoch: int = 0
    num_epochs: int = 0
    budget_epochs: int = 0
    """Epochs within the CPU seconds of the graph, as measured before the first run of these settings."""
    curve: Sequence[Sequence[float]] = ()
    """(CPU seconds of training, validation accuracy) whenever validation improves."""
    bits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For "valid" and "test": which predictions are correct, packed."""
    versions: Mapping[str, Any] = field(default_factory=dict)
    """Versions and threads of the run."""

    @property
    def job(self) -> Job:
        """The job that the result belongs to."""
        return job_of(self.name)

    def correct(self, split: str) -> np.ndarray:
        """Return which predictions of a split are correct. [N] bool"""
        return unpacked(self.bits[split], f"{self.name}: {split}")


def packed(correct: np.ndarray) -> dict[str, Any]:
    """Return booleans as text: eight to a byte, compressed, with a checksum."""
    data = np.packbits(np.asarray(correct, bool)).tobytes()
    text = base64.b64encode(zlib.compress(data, 9)).decode()
    return {"count": len(correct), "blake2b": checksum_of(data), "zlib": text}


def unpacked(content: Mapping[str, Any], owner: str) -> np.ndarray:
    """Return the booleans of `packed`; raise if they are damaged."""
    count = content["count"]
    try:
        data = zlib.decompress(base64.b64decode(content["zlib"], validate=True))
    except (ValueError, zlib.error) as error:
        raise SourceError(f"{owner}: bits are damaged: {error}") from error
    if checksum_of(data) != content["blake2b"] or len(data) != -(-count // 8):
        raise SourceError(f"{owner}: bits must have the checksum {content['blake2b']}, they are damaged")
    return np.unpackbits(np.frombuffer(data, np.uint8), count=count).astype(bool)


def to_line(result: Result) -> str:
    """Return a result as one line of JSON."""
    return json.dumps({"format": FORMAT, "version": VERSION, **asdict(result)}, sort_keys=True)


def from_line(line: str, owner: str) -> Result:
    """Read a line of to_line; a fault names its owner."""
    try:
        content = json.loads(line)
        if (content.pop("format"), content.pop("version")) != (FORMAT, VERSION):
            raise SourceError(f"{owner}: must be a result of version {VERSION} of the study")
        result = Result(**content)
        job_of(result.name)
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise SourceError(f"{owner}: is not a result of the study: {error}") from error
    return result


class ResultStore:
    """Results in the study folder, one file each, and those of earlier runs, a file for each graph."""

    def __init__(self, folder: Path, kept: Path | None) -> None:
        """Read all results. folder: of the study. kept: where `export` wrote those of earlier runs."""
        self._folder = folder / "results"
        self.results: dict[str, Result] = {}
        for path in sorted(kept.glob("*.jsonl")) if kept is not None else ():
            for number, line in enumerate(_text(path).splitlines(), start=1):
                self._take(from_line(line, f"{path}, line {number}"))
        for path in sorted(self._folder.glob("*.json")):
            self._take(from_line(_text(path), str(path)))

    def _take(self, result: Result) -> None:
        known = self.graph_of(result.job.cell.graph)
        if known not in (None, result.graph):
            raise SourceError(
                f"{result.name}: graph must be that of the other results, {known}, got {result.graph}; "
                "build the same version of the graph, or choose another study folder"
            )
        # The study folder is read last: its copy of a result has all bits.
        self.results[result.name] = result

    def graph_of(self, name: str) -> str | None:
        """Return the identity of a graph in the results; None before the first."""
        return next((one.graph for one in self.results.values() if one.job.cell.graph == name), None)

    def add(self, result: Result) -> None:
        """Keep a result, in a single step."""
        self._take(result)
        self._folder.mkdir(parents=True, exist_ok=True)
        write_file(self._folder / f"{result.name.replace('/', '--')}.json", to_line(result).encode())

    def export(self, kept: Path, with_bits: Iterable[str]) -> int:
        """Write a file for each graph; only some results keep their bits. Return the bytes of all files."""
        keep, lines = set(with_bits), {}
        for name in sorted(self.results):
            result = self.results[name]
            content = {**asdict(result), "bits": result.bits if name in keep else {}}
            lines.setdefault(result.job.cell.graph, []).append(to_line(Result(**content)))
        kept.mkdir(parents=True, exist_ok=True)
        for graph, texts in lines.items():
            write_file(kept / f"{graph}.jsonl", ("\n".join(texts) + "\n").encode())
        return sum(path.stat().st_size for path in kept.glob("*.jsonl"))


def _text(path: Path) -> str:
    return read_bytes(path, MAX_BYTES, SourceError).decode()
