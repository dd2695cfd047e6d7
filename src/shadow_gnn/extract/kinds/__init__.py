"""The kinds of extractors, one file each, and the one table from a name to its class.

Not for: what they share (base_extractor.py), nor for reading their options from a recipe (recipe/extractor_table.py).
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
"""Every extractor by the name that recipes and commands have for it; a new kind needs one line here. Another program
adds its own with KINDS["name"] = Class."""
