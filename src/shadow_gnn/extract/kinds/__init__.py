"""The kinds of extractors, one file each, and the table of their names.

Not for: their shared part (base_extractor.py), or reading their options from a recipe (recipe/extractor_table.py).
"""

from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.extract.kinds.combined import CombinedExtractor
from shadow_gnn.extract.kinds.file import FileExtractor
from shadow_gnn.extract.kinds.fire import FireExtractor
from shadow_gnn.extract.kinds.heat import HeatExtractor
from shadow_gnn.extract.kinds.katz import KatzExtractor
from shadow_gnn.extract.kinds.khop import FullExtractor, KhopExtractor
from shadow_gnn.extract.kinds.node import NodeExtractor
from shadow_gnn.extract.kinds.ppr import PprExtractor, StochasticPprExtractor
from shadow_gnn.extract.kinds.rwr import RwrExtractor
from shadow_gnn.extract.kinds.similar import SimilarExtractor
from shadow_gnn.extract.kinds.simrank import SimrankExtractor

KINDS: dict[str, type[BaseExtractor]] = {
    each.kind: each
    for each in (
        PprExtractor,
        StochasticPprExtractor,
        KhopExtractor,
        FullExtractor,
        NodeExtractor,
        KatzExtractor,
        HeatExtractor,
        CombinedExtractor,
        RwrExtractor,
        SimrankExtractor,
        FireExtractor,
        SimilarExtractor,
        FileExtractor,
    )
}
"""Extractors by name in recipes and commands; a new kind is one line here, or KINDS["name"] = Class elsewhere."""
