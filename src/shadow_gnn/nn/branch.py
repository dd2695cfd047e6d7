"""Branch: encoding, backbone and readout for the batches of one extractor.

Not for: joining several branches (ensemble.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from shadow_gnn.loading.batch import Batch, BatchLayout
from shadow_gnn.nn.backbone import Backbone
from shadow_gnn.nn.encoding import Encoding
from shadow_gnn.nn.head import UnitLength
from shadow_gnn.nn.readouts.readout import Readout
from shadow_gnn.nn.scaling import InputScaling


class Branch(nn.Module):
    """A batch -> one normalized embedding per target.

    >>> model.branches[0](batch).shape
    torch.Size([2, 8])
    """

    def __init__(
        self,
        encoding: Encoding,
        backbone: Backbone,
        readout: Readout,
        *,
        trim: bool = True,
        owns_backbone: bool = True,
        norm: nn.Module | None = None,
    ) -> None:
        """Check and store.

        trim: compute only the rows that a center readout needs, if the layers allow it. owns_backbone: False to share
        the backbone, and so the weights, of another branch of the same model. norm: that of the embedding, None for
        length 1.
        """
        super().__init__()
        if encoding.out_dim != backbone.in_dim:
            raise ValueError(
                f"Branch: backbone must read the encoding's {encoding.out_dim} columns, got {backbone.in_dim}"
            )
        self.encoding = encoding
        self.readout = readout
        self.norm = UnitLength() if norm is None else norm
        self.trims = trim and readout.center and backbone.trims
        # torch registers no module inside a tuple: shared weights are saved once, by the branch that owns them.
        self._shared = () if owns_backbone else (backbone,)
        if owns_backbone:
            self.own_backbone = backbone

    @property
    def backbone(self) -> Backbone:
        """The layers, own or shared."""
        return self._shared[0] if self._shared else self.own_backbone

    @property
    def out_dim(self) -> int:
        """Columns of the embedding."""
        return self.readout.out_dim

    @property
    def layouts(self) -> tuple[BatchLayout, ...]:
        """The layout of this branch's batches, as a tuple of one: a Loader accepts a branch like a model."""
        return (BatchLayout("hop" if self.trims else "subgraph", self.backbone.edge_arrays),)

    def forward(self, batch: Batch, scaling: InputScaling | None = None) -> Tensor:
        """Embed the targets. [B, H]"""
        if not self.readout.center:
            batch = batch.in_subgraph_order()  # Pools are over consecutive rows.
        row_counts = self.backbone.row_counts(batch, trim=self.trims)
        x = self.inputs(batch, row_counts[0], scaling)
        outputs = self.backbone(x, batch, row_counts, keep_all=self.readout.skip != "none")
        return self.read(outputs, batch)

    def inputs(self, batch: Batch, num_rows: int, scaling: InputScaling | None = None) -> Tensor:
        """Return the input of the first layer, for the first num_rows rows. [num_rows, F]"""
        x = None if batch.x is None else batch.x[:num_rows]
        if scaling is not None and x is not None:
            x = scaling(x)
        encoded: Tensor = self.encoding(x, batch, num_rows)
        return encoded

    def read(self, outputs: Sequence[Tensor], batch: Batch) -> Tensor:
        """Turn the layers' outputs into the targets' embeddings; skip none reads only the last. [B, H]"""
        embedding: Tensor = self.norm(self.readout(outputs, batch))
        return embedding
