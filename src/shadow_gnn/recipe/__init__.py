"""Recipes: the complete settings of a run, their keys, and their files.

Not for: turning names into classes (training/build.py).
"""

from shadow_gnn.recipe.model import BranchRecipe, InputsRecipe, ModelRecipe
from shadow_gnn.recipe.recipe import COMMON_KEYS, EXTRACTOR_TWICE, Recipe
from shadow_gnn.recipe.record import Record
from shadow_gnn.recipe.task import LinkRecipe, TaskRecipe
from shadow_gnn.recipe.training import JointRecipe, LoggingRecipe, NeighborRecipe, SaintRecipe, TrainingRecipe

__all__ = [
    "COMMON_KEYS",
    "EXTRACTOR_TWICE",
    "BranchRecipe",
    "InputsRecipe",
    "JointRecipe",
    "LinkRecipe",
    "LoggingRecipe",
    "ModelRecipe",
    "NeighborRecipe",
    "Recipe",
    "Record",
    "SaintRecipe",
    "TaskRecipe",
    "TrainingRecipe",
]
