"""Recipes: what to train on what, and how; the records, their keys, and the files they are read from.

Not for: turning names into classes (build.py).
"""

from shadow_gnn.recipe.records import (
    COMMON_KEYS,
    EXTRACTOR_TWICE,
    EXTRACTORS,
    BranchRecipe,
    ExtractorRecipe,
    FileRecipe,
    FullRecipe,
    InputsRecipe,
    KhopRecipe,
    LinkRecipe,
    LoggingRecipe,
    ModelRecipe,
    NeighbourRecipe,
    NodeRecipe,
    PprRecipe,
    Recipe,
    Record,
    SaintRecipe,
    TaskRecipe,
    TrainingRecipe,
)

__all__ = [
    "COMMON_KEYS",
    "EXTRACTORS",
    "EXTRACTOR_TWICE",
    "BranchRecipe",
    "ExtractorRecipe",
    "FileRecipe",
    "FullRecipe",
    "InputsRecipe",
    "KhopRecipe",
    "LinkRecipe",
    "LoggingRecipe",
    "ModelRecipe",
    "NeighbourRecipe",
    "NodeRecipe",
    "PprRecipe",
    "Recipe",
    "Record",
    "SaintRecipe",
    "TaskRecipe",
    "TrainingRecipe",
]
