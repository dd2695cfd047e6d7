"""Recipes: what to train on what, and how; the records, their keys, and the files they are read from.

Not for: turning names into classes (build.py).
"""

from shadow_gnn.recipe.records import (
    COMMON_KEYS,
    EXTRACTOR_TWICE,
    EXTRACTORS,
    PATH_KEYS,
    BranchRecipe,
    ExtractorRecipe,
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
    ScopeRecord,
    SimilarRecipe,
    TaskRecipe,
    TrainingRecipe,
)

__all__ = [
    "COMMON_KEYS",
    "EXTRACTORS",
    "EXTRACTOR_TWICE",
    "PATH_KEYS",
    "BranchRecipe",
    "ExtractorRecipe",
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
    "ScopeRecord",
    "SimilarRecipe",
    "TaskRecipe",
    "TrainingRecipe",
]
