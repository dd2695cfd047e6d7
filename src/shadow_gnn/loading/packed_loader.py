"""PackedLoader: batches with fixed targets, made once and then read from a file.

Not for: random scopes (loader.py), or the file itself (pack_file.py).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.extract.gather import array_rows
from shadow_gnn.extract.options import check_int
from shadow_gnn.graph.record import DenseFeatures, SparseFeatures
from shadow_gnn.loading.batch import Batch
from shadow_gnn.loading.epochs import WHOLE, RankPart, derive_seed, made_ahead, permutation
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.pack_file import BatchForm, PackFile, Sizes, new_pack

Ints = NDArray[np.int64]


class PackedLoader:
    """Batches of a loader's targets: the grouping is drawn once, the order of batches in each epoch.

    The first complete epoch writes the batches to a file while it yields them; later epochs read the file. A batch is
    the same whether read or made, so a run can be stopped and resumed at any time. Each of several processes has its
    own file, with its part of every batch.
    """

    shuffle = True

    def __init__(self, loader: Loader, folder: Path) -> None:
        """Check and store; loader: makes the batches. folder: where the file is kept."""
        check_packable(loader)
        self.graph, self.targets = loader.graph, loader.targets
        self._loader, self._folder = loader, folder
        self._rows = permutation(len(loader.targets), derive_seed("packed targets", loader.seed, None))

    def path(self, part: RankPart = WHOLE) -> Path:
        """Return the file of a process's part; it exists after the first complete epoch."""
        digest = hashlib.blake2b(self._identity(part).encode(), digest_size=12).hexdigest()
        return self._folder / f"packed-{digest}.bin"

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self._loader)

    def num_bytes_needed(self, part: RankPart = WHOLE) -> int:
        """Estimate the bytes of a part's file from its first batch; 0 if it exists."""
        if self.path(part).exists() or len(self) == 0:
            return 0
        return len(self) * self._form().num_bytes(Sizes.of(self._make(0, part)))

    def epoch(self, number: int) -> Iterator[Batch]:
        """Iterate over one epoch's batches: the same ones whenever it is called with the same number."""
        return self.rank_epoch(number, WHOLE)

    def rank_epoch(self, number: int, part: RankPart) -> Iterator[Batch]:
        """Iterate over one process's part of an epoch; the other targets are not looked at."""
        check_int("PackedLoader", "epoch", number, 0)
        order = permutation(len(self), derive_seed("packed batches", self._loader.seed, number))
        return made_ahead(self._batches(order, part), self._loader.prefetch)

    def _batches(self, order: Ints, part: RankPart) -> Iterator[Batch]:
        numbers, path = order.tolist(), self.path(part)
        if not numbers:
            return
        if os.path.lexists(path):
            yield from self._read(numbers, part)
            return
        with new_pack(path, self._identity(part), self._form(), len(self)) as pack:
            for number in numbers:
                batch = self._make(number, part)
                pack.write(number, batch)
                if number != numbers[-1]:
                    yield batch
        yield batch  # Only when the file is complete: the caller may not ask for more after the last batch.

    def _read(self, numbers: list[int], part: RankPart) -> Iterator[Batch]:
        pack = PackFile(self.path(part), self._identity(part))
        for number, following in zip(numbers, [*numbers[1:], None], strict=True):
            if following is not None:
                pack.ask(following)
            yield replace(pack.read(number), filler=self._part(number, part)[1])

    def _make(self, number: int, part: RankPart) -> Batch:
        rows, filler = self._part(number, part)
        return replace(self._loader.batch_of(rows), filler=filler)

    def _part(self, number: int, part: RankPart) -> tuple[Ints, bool]:
        """Return a part's rows of a batch, and whether they are a filler."""
        size = self._loader.batch_size
        return part.rows_or_filler(self._rows[number * size : (number + 1) * size])

    def _form(self) -> BatchForm:
        """Return the common properties of all batches."""
        graph, loader = self.graph, self._loader
        y, x = graph.y, graph.x if loader.features else None
        half = isinstance(x, DenseFeatures) and x.matrix.dtype == np.float16
        return BatchForm(
            order=loader.layout.order,
            num_targets=loader.targets.shape[1],
            num_columns=None if x is None else x.shape[1],
            x_dtype="<f2" if half else "<f4",
            y_dtype=None if y is None or loader.targets.shape[1] != 1 else y.dtype.str,
            num_labels=None if y is None or y.ndim == 1 else y.shape[1],
            weighted="weight" in loader.layout.edge_arrays,
            wide_ids=graph.num_nodes >= 2**31,
        )

    def _identity(self, part: RankPart) -> str:
        """Identify everything that affects the batches of a process's part."""
        return self._identity_of_all if part == WHOLE else f"{self._identity_of_all}\npart={part}"

    @cached_property
    def _identity_of_all(self) -> str:
        loader, graph = self._loader, self.graph
        digest = hashlib.blake2b(np.ascontiguousarray(loader.targets).data, digest_size=16)
        labels = array_rows(graph, "y", np.ascontiguousarray(loader.targets[:, 0]))
        digest.update(b"" if labels is None else np.ascontiguousarray(labels).data)
        parts = {
            "extractor": loader.extractor.key,
            "graph": f"{graph.fingerprint} directed={graph.directed}",
            "edges": loader.edge_graph.fingerprint,
            "features": None if graph.x is None or not loader.features else graph.x.fingerprint,
            "targets": digest.hexdigest(),
            "batches": f"{loader.batch_size} {loader.seed} {loader.drop_last}",
            "form": f"{self._form()}",
        }
        return "\n".join(f"{name}={value}" for name, value in parts.items())


def check_packable(loader: Loader) -> None:
    """Raise unless the batches of a loader stay the same in every epoch."""
    if not loader.extractor.deterministic:
        raise ValueError(
            f"training: pack must be false for scopes that are drawn in each epoch, got {loader.extractor!r}"
        )
    if loader.inputs is not None:
        raise ValueError("training: pack must be false for a model that reads [inputs]")
    if loader.labels is not None or loader.targets.shape[1] != 1:
        raise ValueError("training: pack must be false for pairs, whose negatives are new in each epoch")
    if set(loader.layout.edge_arrays) - {"weight"}:
        raise ValueError("training: pack must be false for a model that reads edge features or edge ids")
    if isinstance(loader.graph.x, SparseFeatures):
        raise ValueError("training: pack must be false for sparse features, which would be stored dense")
